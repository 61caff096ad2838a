/** Reads a directory file of any size without blocking other requests. */
import { DomainError } from '../../errors.ts'
import { resultOfThread } from '../../work/worker-thread.ts'
import { readDirectory } from './directory-file.ts'

/**
 * The maximum length of a file that is read in the main thread. Reading it takes some tens of milliseconds, which is
 * less than starting a worker thread takes.
 */
const fewCharacters = 128 * 1024

/**
 * Like `readDirectory`, but a large file is read in a worker thread, because 16 MiB of YAML take seconds.
 *
 * @throws DomainError 'too-large' when the thread needs more memory than it may have
 */
export async function readDirectoryAside(
  yamlText: string,
  files: ReadonlyMap<string, string>,
): Promise<ReturnType<typeof readDirectory>> {
  const characters = [...files.values()].reduce((sum, text) => sum + text.length, yamlText.length)
  if (characters <= fewCharacters) return readDirectory(yamlText, files)
  try {
    return await resultOfThread(new URL('./worker.ts', import.meta.url), { yamlText, files })
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw cause
    const text = 'The directory needs more memory than the platform has: send its entries in several requests'
    throw new DomainError('too-large', text, { cause })
  }
}
