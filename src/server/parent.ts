/** The end of the process that started this one. */
import process from 'node:process'

/** Taken when the program begins: later it may be gone already. */
const parent = process.ppid
const lookEveryMs = 500

/**
 * Tells, once, that the process which started this one has ended. npm starts a command through a shell, and passes SIGTERM on to
 * that shell only, which ends without a word to the command.
 */
export function whenParentEnds(tell: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    tell()
  }, lookEveryMs)
  timer.unref()
}
