/** Work that must not delay requests. */
import { setPriority } from 'node:os'

/**
 * The priority (nice value) of the work. On a busy processor the work then gets a tenth of the time of a request. The
 * lowest priority is not used, because reading a large request body would then take minutes.
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
