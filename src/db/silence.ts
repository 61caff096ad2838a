/**
 * Finds silent connections: the network lost them, nobody was told, and they stay open as long as somebody waits. Statements of
 * the pool have a time limit. This module covers connections without one, and prevents that each waiter finds the same silence
 * anew.
 */
import type { Duplex } from 'node:stream'
import pg from 'pg'

/** The driver's own message for a statement without any answer in time, not even the server's message that it has cancelled it. */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/** Remembers which connections of a pool have answered since one was last found silent, and whether any has answered just now. */
export function createHearing() {
  const heardAtMs = new WeakMap<pg.ClientBase, number>()
  let losses = 0
  let lastHeardAtMs = Number.NEGATIVE_INFINITY
  let foundSilentAtMs = Number.NEGATIVE_INFINITY
  return {
    /** Call it before a statement; call the returned function when the statement has succeeded. */
    listen(client: pg.ClientBase): () => void {
      const lossesBefore = losses
      return () => {
        const nowMs = performance.now()
        heardAtMs.set(client, nowMs)
        // A server that shuts down may send its last message together with an answer, and that message is read before the caller
        // gets the answer.
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

const streamOf = (client: pg.ClientBase): Duplex & { bytesRead?: number } =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream

/** Ends a connection without a farewell, which nobody would read. What runs on it fails as on any lost connection. */
export const endSilent = (client: pg.ClientBase): void => void streamOf(client).destroy(new Error('Connection silent'))

const lookEveryMs = 2_000
/** One failed connection may only mean a busy machine, and ending this one may waste an upload of many minutes. */
const maxFailures = 2

/**
 * Ends a connection without time limits when it receives nothing while no other connection can be made. Its statement then fails
 * as on any lost connection.
 *
 * @param reach makes another connection; rejects with 'unavailable' when that is not possible
 * @returns ends the watch
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
