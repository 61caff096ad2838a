/** How the platform reads a directory file that somebody has sent: without keeping others waiting, however large it is. */
import { piecesOfThread } from '../../work/worker-pieces.ts'
import { readDirectory } from './directory-file.ts'

/** Read in some tens of milliseconds, which is less than a thread takes to begin. */
const fewCharacters = 128 * 1024

/** As `readDirectory`; a large file is read in a thread of its own, as 16 MiB of YAML take seconds. */
export async function readDirectoryAside(
  yamlText: string,
  files: ReadonlyMap<string, string>,
): Promise<ReturnType<typeof readDirectory>> {
  const characters = [...files.values()].reduce((sum, text) => sum + text.length, yamlText.length)
  if (characters <= fewCharacters) return readDirectory(yamlText, files)
  const file = new URL('./worker.ts', import.meta.url)
  for await (const read of piecesOfThread<ReturnType<typeof readDirectory>>(file, { yamlText, files })) return read
  throw new Error('A thread gives at least one piece')
}
