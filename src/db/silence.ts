/**
 * Finds silent connections: the network has lost them without an error, so a caller would wait for an answer for ever.
 * Statements of the pools have a time limit. For long work, which has none, this module ends silent connections. It also
 * remembers that a connection was silent, so that other callers do not have to wait until they notice it themselves.
 */
import type { Duplex } from 'node:stream'
import pg from 'pg'

/** Whether the driver reports that a statement got no answer in time, not even the server's message that it was cancelled. */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/**
 * Remembers when each connection last answered. Once a connection was found silent, a connection that has not answered
 * since then is not used again, because it may be silent too. Also remembers when any connection last answered.
 */
export function createHearing() {
  const heardAtMs = new WeakMap<pg.ClientBase, number>()
  let losses = 0
  let lastHeardAtMs = Number.NEGATIVE_INFINITY
  let foundSilentAtMs = Number.NEGATIVE_INFINITY
  return {
    /** Call this before a statement. Call the returned function when the statement has succeeded. */
    listen(client: pg.ClientBase): () => void {
      const lossesBefore = losses
      return () => {
        const nowMs = performance.now()
        heardAtMs.set(client, nowMs)
        // An answer shows that the server is there, unless a connection was lost since the statement began. A server
        // that shuts down may send its last message together with an answer, and we handle that message first.
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
    /** Whether the connection has answered since a silent one was found last. */
    maySpeak: (client: pg.ClientBase): boolean => (heardAtMs.get(client) ?? 0) > foundSilentAtMs,
  }
}

const streamOf = (client: pg.ClientBase): Duplex & { bytesRead?: number } =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream

/**
 * Closes the socket of a connection without a closing message, because the server cannot receive one. Statements that run on it
 * fail as on any lost connection.
 */
export const endSilent = (client: pg.ClientBase): void => void streamOf(client).destroy(new Error('Connection silent'))

const lookEveryMs = 2_000
/**
 * How many attempts to connect must fail before the watched connection is ended. A single failure may only mean a busy
 * machine. Ending the watched connection may waste an upload of many minutes.
 */
const maxFailures = 2

/**
 * Ends a connection without time limits when it receives nothing while no other connection can be made. Its statement then fails
 * as on any lost connection.
 *
 * @param reach makes another connection; rejects with 'unavailable' when that is not possible
 * @returns a function that ends the watch
 */
export function endWhenSilent(client: pg.ClientBase, reach: () => Promise<void>): () => void {
  const stream = streamOf(client)
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
          // A server that refuses a connection is not silent.
          if (!(cause instanceof pg.DatabaseError)) failures++
        },
      )
      reaching = false
    }
    received = stream.bytesRead
    if (failures >= maxFailures) endSilent(client)
  }
  const timer = setInterval(() => void look(), lookEveryMs)
  return () => clearInterval(timer)
}
