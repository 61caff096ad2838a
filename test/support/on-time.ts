/**
 * Repeats a test of a time limit if the machine stalled meanwhile. When even the test's own timer fires late, a missed
 * limit proves nothing.
 */
import type { TestContext } from 'node:test'

const everyMs = 50
const stalledMs = 500
const rounds = 3

/**
 * Runs a round. It may fail because the machine stalled: then a timer of this function is late by more than half a
 * second. After such a failure the round runs again, at most twice.
 *
 * @param round prepares everything that it needs each time
 */
export async function onTime(t: TestContext, round: () => Promise<void>): Promise<void> {
  for (let left = rounds - 1; ; left--) {
    const watch = watchTimer()
    try {
      await round()
      return
    } catch (error) {
      const lateMs = watch.lateMs()
      if (lateMs <= stalledMs || left === 0) throw error
      t.diagnostic(`once more, as a timer of the test was ${Math.round(lateMs)} ms late: ${error}`)
    } finally {
      watch.stop()
    }
  }
}

function watchTimer(): { lateMs(): number; stop(): void } {
  let dueMs = performance.now() + everyMs
  let latestMs = 0
  const look = () => {
    latestMs = Math.max(latestMs, performance.now() - dueMs)
  }
  const timer = setInterval(() => {
    look()
    dueMs = performance.now() + everyMs
  }, everyMs)
  return {
    lateMs() {
      look()
      return latestMs
    },
    stop: () => clearInterval(timer),
  }
}
