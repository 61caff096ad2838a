/**
 * Limits how fast a statement is written while other transactions write, so that sales are slowed down as little as
 * possible.
 */
import { setTimeout as sleep } from 'node:timers/promises'

export type Pace = {
  /**
   * The number of lines in the next piece of the statement's file. It is small while other transactions write, because
   * they may have to wait until the piece is written.
   */
  linesAtOnce(): number
  /**
   * Call it after each piece. While other transactions write, it waits four times as long as the piece took, but at
   * most a second.
   *
   * @param firstUnused the id that the next writing transaction will get. It shows how many transactions have written
   *   since the last call
   */
  pause(tookMs: number, firstUnused: number): Promise<void>
}

const linesAlone = 500
const linesBesideOthers = 50
const pausePerMs = 4
/** The longest pause. It is far below the minute after which PostgreSQL ends a session that is idle in a transaction. */
const maxPauseMs = 1_000
/** Up to this many new transactions do not count as load: one may be the next transaction of the closing itself. */
const fewTransactions = 1
/**
 * After other transactions were seen, this many pieces are written as if there were more of them. A small piece takes
 * about a millisecond, so even a busy platform often writes nothing meanwhile.
 */
const carefulPieces = 100

/** @param wait replaced by tests */
export function createPace(wait: (ms: number) => Promise<unknown> = sleep): Pace {
  let known: number | null = null
  let carefulLeft = 0
  let lines = linesBesideOthers
  return {
    linesAtOnce: () => lines,
    async pause(tookMs, firstUnused) {
      const isFirst = known === null
      const haveOthersWritten = known !== null && firstUnused - known > fewTransactions
      known = firstUnused
      carefulLeft = haveOthersWritten ? carefulPieces : Math.max(0, carefulLeft - 1)
      lines = isFirst || carefulLeft > 0 ? linesBesideOthers : linesAlone
      if (carefulLeft > 0) await wait(Math.min(maxPauseMs, pausePerMs * tookMs))
    },
  }
}
