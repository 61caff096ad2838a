/** Detects the end of the parent process. */
import process from 'node:process'

/** The parent's id. It is read when the program starts, because it changes when the parent ends. */
const parent = process.ppid
const lookEveryMs = 500

/**
 * Calls back once when the parent process has ended. npm starts a command through a shell and sends SIGTERM only to
 * that shell. The shell ends, but does not pass the signal on to the command.
 */
export function whenParentEnds(onEnd: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onEnd()
  }, lookEveryMs)
  timer.unref()
}
