import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { terminalsFilesOf } from '../../partners/directory-file.ts'
import { callAdmin } from './connection.ts'
import { CommandError } from './failure.ts'
import { readText } from './files.ts'
import { type OutputOptions, print } from './output.ts'

const maxBytes = 64 * 1024 * 1024

/**
 * `perkline apply FILE.yaml`: sends the directory file with the terminals files that it names, whose paths are relative to its own
 * folder. One that is not there is left out, so that the platform tells this fault with its line, beside all the others.
 */
export async function applyDirectory(path: string, options: OutputOptions & { dryRun?: boolean }): Promise<void> {
  const directory = await readText(path, maxBytes)
  const files = new Map<string, string>()
  let length = directory.length
  for (const named of terminalsFilesOf(directory)) {
    const terminalsPath = resolve(dirname(path), named)
    if (!(await isThere(terminalsPath))) continue
    const text = await readText(terminalsPath, maxBytes)
    files.set(named, text)
    length += text.length
    if (length > maxBytes) throw new CommandError(`${path} and its terminals files have more than 64 MiB together.`)
  }
  const counts = await callAdmin<{ created: number; updated: number; unchanged: number }>({
    method: 'POST',
    path: `/directory?dryRun=${options.dryRun === true}`,
    json: { directory, files: Object.fromEntries(files) },
    long: true,
    refusal: `${path} can’t be applied, so nothing was changed`,
  })
  const { created, updated, unchanged } = counts
  const line = `${created} created, ${updated} updated, ${unchanged} unchanged`
  print(options, counts, [options.dryRun ? `${line}. This was a dry run: nothing was changed.` : line])
}

async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && !found.isDirectory()
}
