/**
 * Connections that have fallen silent: the network has lost them, nobody was told, and they stay open for as long as somebody waits.
 * Whoever waits for a statement of the pool has its time limit; this is about the others, so that the silence of one is not met anew
 * by each of them.
 */
import type { Duplex } from 'node:stream'
import pg from 'pg'

/** The driver's own words for a statement that got no answer within its time, not even the server's that it has ended it. */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/** Knows which connections of a pool have been heard since one was last found silent, and whether any was heard just now. */
export function createHearing() {
  const heardAtMs = new WeakMap<pg.ClientBase, number>()
  let losses = 0
  let lastHeardAtMs = Number.NEGATIVE_INFINITY
  let foundSilentAtMs = Number.NEGATIVE_INFINITY
  return {
    /** Called before a statement; what it gives is called when the statement has succeeded. */
    listen(client: pg.ClientBase): () => void {
      const lossesBefore = losses
      return () => {
        const nowMs = performance.now()
        heardAtMs.set(client, nowMs)
        // The last word of a server that ends may come together with an answer, and is read before anybody is given that.
        if (losses === lossesBefore) lastHeardAtMs = nowMs
      }
    },
    lost(): void {
      losses++
      lastHeardAtMs = Number.NEGATIVE_INFINITY
    },
    heardWithin: (ms: number): boolean => performance.now() - lastHeardAtMs <= ms,
    foundSilent(): void {
      foundSilentAtMs = performance.now()
    },
    maySpeak: (client: pg.ClientBase): boolean => (heardAtMs.get(client) ?? 0) > foundSilentAtMs,
  }
}

const lookEveryMs = 2_000
/** One connection that is not made in time may be a busy machine's fault; what is ended here may be an upload of many minutes. */
const mostFailures = 2

/**
 * Ends a connection without time limits when it brings nothing while no other can be made: its statement then fails as on any lost
 * connection.
 *
 * @param reach makes another connection; rejected with 'unavailable' when that is not possible
 * @returns ends the watch
 */
export function endWhenSilent(client: pg.ClientBase, reach: () => Promise<void>): () => void {
  const { stream } = (client as unknown as { connection: { stream: Duplex & { bytesRead?: number } } }).connection
  let received = stream.bytesRead
  let failures = 0
  let reaching = false
  const look = async () => {
    if (reaching) return
    if (received !== stream.bytesRead) failures = 0
    else {
      reaching = true
      await reach().then(
        () => {
          failures = 0
        },
        ({ cause }) => {
          // A server that refuses is not silent.
          if (!(cause instanceof pg.DatabaseError)) failures++
        },
      )
      reaching = false
    }
    received = stream.bytesRead
    if (failures >= mostFailures) stream.destroy(new Error('Connection silent'))
  }
  const timer = setInterval(() => void look(), lookEveryMs)
  return () => clearInterval(timer)
}
