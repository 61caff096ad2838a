/** Releases the memory that was needed only during the start. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Returns unused memory to the operating system. It blocks the process for a fraction of a second, so call it at the
 * end of the start. Without this call, a process with little work would keep that memory forever.
 */
export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
