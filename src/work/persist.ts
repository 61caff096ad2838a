/** Repeats a write that must not be lost while the database is away. */
import { setTimeout as sleep } from 'node:timers/promises'

const everyMs = 1_000

/**
 * Repeats `work` each second until it succeeds. Use it to store what cannot be found out again, such as the outcome of
 * something that was sent, while the database may be away. `work` must do no harm when it is repeated after a success
 * whose answer got lost. It does not keep the process from ending.
 *
 * @param withinMs no try begins after this time
 * @throws the error of the last try
 */
export async function persist(withinMs: number, work: () => Promise<void>): Promise<void> {
  const endsAtMs = performance.now() + withinMs - everyMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > endsAtMs) throw error
      await sleep(everyMs, undefined, { ref: false })
    }
  }
}
