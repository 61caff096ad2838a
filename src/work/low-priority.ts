/** Work that must not delay requests. */
import { setPriority } from 'node:os'

/** A tenth of a request's share of a busy processor: with the lowest one a large body would take minutes there. */
const priority = 10

/**
 * Gives a process a low priority, or on Linux a thread; 0 means the calling one. Where the system forbids it, as a filter of system
 * calls may, the work runs at the usual priority.
 */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, priority)
  } catch (error) {
    const { code } = (error as { info?: { code?: string } }).info ?? {}
    if (code !== 'EPERM' && code !== 'EACCES') throw error
  }
}
