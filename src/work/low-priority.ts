/** Work that must not delay requests. */
import { setPriority } from 'node:os'

/**
 * On a busy processor this priority gets a tenth of a request's share. With the lowest priority a large body would take
 * minutes.
 */
const priority = 10

/**
 * Gives a low priority to a process, or on Linux to a thread; 0 means the calling one. Where the system forbids this,
 * such as by a filter of system calls, the work runs at the usual priority.
 */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, priority)
  } catch (error) {
    const { code } = (error as { info?: { code?: string } }).info ?? {}
    if (code !== 'EPERM' && code !== 'EACCES') throw error
  }
}
