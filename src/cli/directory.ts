/** The command `perkline apply`. */
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Change } from '../partners/changes.ts'
import { terminalsFilesOf } from '../partners/file/directory-file.ts'
import type { Applied } from '../partners/operations.ts'
import type { EntryKind } from '../partners/tables.ts'
import { callAdmin } from './connection.ts'
import { CommandError } from './failure.ts'
import { readText } from './files.ts'
import { type OutputOptions, plain, print } from './output.ts'

const maxBytes = 64 * 1024 * 1024

/**
 * `perkline apply FILE.yaml`: sends the directory file and the terminals files that it names. Their paths are relative
 * to the folder of the directory file. A missing terminals file is left out, so that the platform reports it with its
 * line, together with all other errors.
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
  const applied = await callAdmin<Applied>({
    method: 'POST',
    path: `/directory?dryRun=${options.dryRun === true}`,
    json: { directory, files: Object.fromEntries(files) },
    long: true,
    refusal: `${path} can’t be applied, so nothing was changed`,
  })
  const { created, updated, unchanged, truncated } = applied
  const line = `${created} created, ${updated} updated, ${unchanged} unchanged`
  print(options, applied, [
    ...applied.changes.flatMap(linesOf),
    ...(truncated ? ['Only the first changes are listed.'] : []),
    options.dryRun ? `${line}. This was a dry run: nothing was changed.` : line,
  ])
}

const kindNames: Record<EntryKind, string> = {
  country: 'country',
  paymentSystem: 'payment system',
  bank: 'bank',
  merchant: 'merchant',
  operator: 'mobile operator',
  tariff: 'tariff',
}

/**
 * Returns the lines that show a change. The first is like `bank alpha updated`. Each field then has a line like
 * `  name: Alpha -> Alpha Bank`.
 */
function linesOf({ kind, code, change, fields }: Change): string[] {
  const lines = Object.entries(fields).map(([name, field]) => {
    if (!Array.isArray(field))
      return `  ${name}: ${field.added} added, ${field.removed} removed, ${field.changed} changed`
    const [before, after] = field.map(shown)
    return `  ${name}: ${change === 'created' ? after : `${before} -> ${after}`}`
  })
  return [`${kindNames[kind]} ${code} ${change}`, ...lines]
}

function shown(value: unknown): string {
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '')
  return text === '' ? '(empty)' : plain(text).replaceAll('\n', ' ')
}

async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && !found.isDirectory()
}
