import type { FileHandle } from 'node:fs/promises'
import { callAdmin, streamAdmin } from './connection.ts'
import { CommandError, usageFault } from './failure.ts'
import { openFile, readFault } from './files.ts'
import { counted, type OutputOptions, print } from './output.ts'
import { type Progress, showProgress } from './progress.ts'
import { openRejects, type Reject } from './rejects.ts'

export type ImportOptions = OutputOptions & {
  operator: string
  tariff: string
  skipInvalid?: boolean
  rejects?: string
}

type ImportResult = { imported: number; duplicates: number; rejected: number }
type ImportLine = { reject?: Reject; result?: ImportResult }

const chunkBytes = 256 * 1024

/** `perkline profiles import FILE.csv` (operations.md, "The stock file"): memory is bounded, however long the file is. */
export async function importProfiles(path: string, options: ImportOptions): Promise<void> {
  const { rejects: rejectsPath, skipInvalid = false } = options
  if (rejectsPath !== undefined && !skipInvalid)
    throw usageFault('--rejects goes with --skip-invalid: without it a bad line keeps the whole file out.')
  const file = await openFile(path)
  const progress = await showProgress('Importing')
  try {
    const rejects = rejectsPath === undefined ? null : await openRejects(rejectsPath, { file, path })
    try {
      const result = await send(path, file, { ...options, skipInvalid }, { progress, rejects })
      await rejects?.keep()
      progress.end()
      print(options, result, summary(result, rejectsPath))
    } finally {
      await rejects?.discard()
    }
  } finally {
    progress.end()
    await file.close()
  }
}

async function send(
  path: string,
  file: FileHandle,
  { operator, tariff, skipInvalid }: ImportOptions,
  { progress, rejects }: { progress: Progress; rejects: { add(reject: Reject): Promise<void> } | null },
): Promise<ImportResult> {
  const query = new URLSearchParams({ operator, tariff, skipInvalid: String(skipInvalid) })
  const answer = streamAdmin<ImportLine>({
    method: 'POST',
    path: `/profiles?${query}`,
    csv: chunksOf(path, file, progress),
    long: true,
    refusal: `Nothing was imported from ${path}`,
  })
  let result: ImportResult | undefined
  for await (const line of answer) {
    if (line.reject) await rejects?.add(line.reject)
    result ??= line.result
  }
  // A second import only counts as duplicates what the first one brought in.
  if (!result) throw new CommandError('The platform broke off before the end. Please start the import again.')
  return result
}

async function* chunksOf(path: string, file: FileHandle, progress: Progress): AsyncGenerator<Uint8Array> {
  const { size } = await file.stat()
  let sent = 0
  try {
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: chunkBytes })) {
      yield chunk
      sent += chunk.length
      // A pipe has no size, and so no progress.
      if (size > 0) progress.show(Math.min(sent, size), size, sent < size ? '' : 'finishing')
    }
  } catch (error) {
    throw readFault(path, error)
  }
}

function summary({ imported, duplicates, rejected }: ImportResult, rejectsPath: string | undefined): string[] {
  const line = `${imported} imported, ${counted(duplicates, 'duplicate', 'duplicates')}, ${rejected} rejected`
  if (rejectsPath !== undefined) return [`${line}. The rejected lines with their reasons are in ${rejectsPath}.`]
  return [rejected === 0 ? line : `${line}. With --rejects FILE the rejected lines come back with their reasons.`]
}

const mostAtOnce = 10_000

/** `perkline profiles withdraw ICCID...`: takes free profiles out of sale; others stay as they are. */
export async function withdrawProfiles(given: readonly string[], options: OutputOptions): Promise<void> {
  // The message shows no ICCID: they are secrets.
  const wrong = given.findIndex(iccid => !/^\d{18,20}$/.test(iccid))
  if (wrong >= 0) throw usageFault(`An ICCID must be 18 to 20 digits; number ${wrong + 1} of those given is not.`)
  const iccids = [...new Set(given)]
  const total = { withdrawn: 0, notFree: 0 }
  for (let start = 0; start < iccids.length; start += mostAtOnce) {
    const json = { iccids: iccids.slice(start, start + mostAtOnce) }
    const { withdrawn, notFree } = await callAdmin<typeof total>({
      method: 'POST',
      path: '/profiles/withdraw',
      json,
      long: true,
    })
    total.withdrawn += withdrawn
    total.notFree += notFree
  }
  print(options, total, [`${total.withdrawn} withdrawn, ${total.notFree} not free and left as they are`])
}
