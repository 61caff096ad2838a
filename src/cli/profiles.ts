/** The commands of `perkline profiles`: imports of stock and withdrawals. */
import { callAdmin, streamAdmin } from './connection.ts'
import { CommandError, describeError, usageError } from './failure.ts'
import { type OpenFile, openFile } from './files.ts'
import { counted, type OutputOptions, print } from './output.ts'
import { sending, showProgress } from './progress.ts'
import { openRejects, type Reject } from './rejects.ts'

export type ImportOptions = OutputOptions & {
  operator: string
  tariff: string
  skipInvalid?: boolean
  rejects?: string
}

type ImportResult = { imported: number; duplicates: number; rejected: number }
type ImportLine = { reject?: Reject; result?: ImportResult }

/**
 * `perkline profiles import FILE.csv`: imports a stock file (contract/operations.md, "The stock file"). The file is
 * streamed, so it may have any length.
 */
export async function importProfiles(path: string, options: ImportOptions): Promise<void> {
  const { rejects: rejectsPath } = options
  if (rejectsPath !== undefined && !options.skipInvalid)
    throw usageError('--rejects goes with --skip-invalid: without it, one bad line keeps the whole file out.')
  const source = { path, file: await openFile(path) }
  try {
    const rejects = rejectsPath === undefined ? null : await openRejects(rejectsPath, source)
    try {
      const steps = untilFailure()
      const result = await sendFile(source, options, reject => steps.take(async () => rejects?.add(reject)))
      await steps.take(async () => rejects?.keep())
      const failure = steps.failure()
      print(options, result, [failure === null ? summary(result, rejectsPath) : counts(result)])
      if (failure !== null) throw importedAnyway(failure, result)
    } finally {
      await rejects?.discard()
    }
  } finally {
    // Do not wait here: a pipe that is being read closes only when its writer closes it.
    source.file.close().catch(() => {})
  }
}

/**
 * Runs steps until one fails, and keeps the error for later. The steps write the file of rejects while the answer
 * arrives. The platform has imported the good lines by then, so an error of a step must not end the command before the
 * counts are printed.
 */
function untilFailure() {
  let failure: unknown = null
  return {
    failure: () => failure,
    async take(step: () => Promise<unknown>): Promise<void> {
      if (failure !== null) return
      try {
        await step()
      } catch (error) {
        failure = error
      }
    },
  }
}

function importedAnyway(failure: unknown, { imported }: ImportResult): CommandError {
  const done = imported > 0 ? ' The good lines are imported.' : ''
  return new CommandError(
    `${describeError(failure, undefined)}${done} To get the rejected lines, start the import again with another file for --rejects; ` +
      'what is in stock already only counts as a duplicate.',
  )
}

async function sendFile(
  source: OpenFile,
  { operator, tariff, skipInvalid = false }: ImportOptions,
  onReject: (reject: Reject) => Promise<void>,
): Promise<ImportResult> {
  const query = new URLSearchParams({ operator, tariff, skipInvalid: String(skipInvalid) })
  const progress = await showProgress('Importing')
  let result: ImportResult | undefined
  try {
    const answer = streamAdmin<ImportLine>({
      method: 'POST',
      path: `/profiles?${query}`,
      csv: sending(source, progress),
      long: true,
      refusal: `Nothing was imported from ${source.path}`,
    })
    for await (const line of answer) {
      if (line.reject) await onReject(line.reject)
      result ??= line.result
    }
  } finally {
    progress.end()
  }
  // A repeated import is safe: profiles that were already imported only count as duplicates.
  if (!result) throw new CommandError('The platform broke off before the end. Please start the import again.')
  return result
}

const counts = ({ imported, duplicates, rejected }: ImportResult): string =>
  `${imported} imported, ${counted(duplicates, 'duplicate', 'duplicates')}, ${rejected} rejected`

function summary(result: ImportResult, rejectsPath: string | undefined): string {
  const line = counts(result)
  if (rejectsPath !== undefined) return `${line}. The rejected lines with their reasons are in ${rejectsPath}.`
  return result.rejected === 0 ? line : `${line}. With --rejects FILE the rejected lines come back with their reasons.`
}

const maxAtOnce = 10_000

export type WithdrawOptions = OutputOptions & { operator?: string; tariff?: string }

type Problem = { iccid: string; line: number; reason: string }
type Withdrawn = { withdrawn: number; notFree: number; problems: Problem[] }

const reasons: Record<string, string> = {
  sold: 'sold',
  reserved: 'reserved',
  unknown: 'not in stock',
  'other-tariff': 'of another tariff',
  withdrawn: 'withdrawn before',
}

/**
 * `perkline profiles withdraw ICCID...`: takes free profiles off sale; for each other profile it says why it was not
 * withdrawn.
 */
export async function withdrawProfiles(input: readonly string[], options: WithdrawOptions): Promise<void> {
  const { operator, tariff } = options
  if (tariff !== undefined && operator === undefined) throw usageError('--tariff goes with --operator.')
  // ICCIDs are secrets, so the message must not contain one.
  const wrong = input.findIndex(iccid => !/^\d{18,20}$/.test(iccid))
  if (wrong >= 0) throw usageError(`An ICCID must be 18 to 20 digits; number ${wrong + 1} of those given is not.`)
  const iccids = [...new Set(input)]
  const total: Withdrawn = { withdrawn: 0, notFree: 0, problems: [] }
  for (let start = 0; start < iccids.length; start += maxAtOnce) {
    const some = iccids.slice(start, start + maxAtOnce)
    const { withdrawn, notFree, problems } = await callAdmin<Withdrawn>({
      method: 'POST',
      path: '/profiles/withdraw',
      json: { iccids: some, operator, tariff },
    })
    total.withdrawn += withdrawn
    total.notFree += notFree
    const lineOf = (problem: Problem) => input.indexOf(some[problem.line - 1] ?? '') + 1
    total.problems.push(...problems.map(problem => ({ ...problem, line: lineOf(problem) })))
  }
  print(options, total, [
    `${total.withdrawn} withdrawn, ${total.notFree} left as they are`,
    ...total.problems.map(({ iccid, line, reason }) => `  number ${line}, …${iccid}: ${reasons[reason] ?? reason}`),
  ])
}
