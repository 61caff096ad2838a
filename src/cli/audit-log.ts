/** The commands of `perkline audit-log` (contract/audit-log.md, "Checking"). */
import { isIncomplete, splitNotes } from '../audit-log/note.ts'
import {
  type Anchor,
  accountIdOf,
  type Covered,
  coveredBy,
  createVerifier,
  type Fault,
  type Line,
  lastOf,
  type Verified,
  type Verifier,
} from '../audit-log/verifier.ts'
import { type FileChain, noAnchors, parseOrNull, type ReadAnchors, readAnchors, readKeys } from './audit-anchors.ts'
import { type AdminCall, callAdmin, streamAdmin } from './connection.ts'
import { CommandError, usageError } from './failure.ts'
import { linesOf, readText, refuseExisting, writeWhole } from './files.ts'
import { counted, minute, type OutputOptions, plain, print, table } from './output.ts'

export type ListOptions = OutputOptions & {
  account?: string
  action?: string
  actor?: string
  object?: string
  from?: string
  to?: string
  limit?: string
}

type ShownEntry = {
  seq: number
  at: string
  account: { type: string; id: string | null }
  actor: { type: string; id: string | null; name: string | null }
  action: string
  object: { type: string; id: string | null }
  outcome: string
}

/** `perkline audit-log list`: the newest matching entries. */
export async function listEntries(options: ListOptions): Promise<void> {
  const { json, ...filters } = options
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== undefined))
  const page = await callAdmin<{ data: ShownEntry[]; nextCursor: string | null }>({
    method: 'GET',
    path: `/audit-log?${query}`,
  })
  const rows = page.data.map(({ seq, at, account, actor, action, object, outcome }) => [
    seq,
    minute(at),
    account.id === null ? account.type : `${account.type} ${account.id}`,
    actor.name ?? actor.id ?? actor.type,
    outcome === 'done' ? action : `${action} (${outcome})`,
    object.id === null ? object.type : `${object.type}:${object.id}`,
  ])
  print(
    { ...(json !== undefined && { json }) },
    page,
    table(['SEQ', 'AT (UTC)', 'ACCOUNT', 'ACTOR', 'ACTION', 'OBJECT'], rows),
  )
}

export type ExportOptions = OutputOptions & { account?: string }

/** `perkline audit-log export`: the whole log, or the log of one account, as a file of JSON lines. An existing file is not overwritten. */
export async function exportLog(path: string, options: ExportOptions): Promise<void> {
  await refuseExisting(path)
  const query = new URLSearchParams(options.account === undefined ? {} : { account: options.account })
  let entries = 0
  let unnumbered = 0
  const call: AdminCall = {
    method: 'GET',
    path: `/audit-log/export?${query}`,
    long: true,
    onHeaders(headers) {
      unnumbered = Number(headers['perkline-unnumbered'] ?? 0)
    },
  }
  const lines = async function* () {
    for await (const line of streamAdmin<object>(call)) {
      yield `${JSON.stringify(line)}\n`
      entries++
    }
  }
  await writeWhole(path, lines())
  const written = `${entries} entries were written to ${plain(path)}.`
  print(options, { entries, file: path, unnumbered }, [written, ...missingOf(unnumbered)])
}

/** Returns the remark on entries that the platform could not number, for example in a read-only database. */
function missingOf(unnumbered: number): string[] {
  if (unnumbered === 0) return []
  const entries = counted(unnumbered, 'recorded entry', 'recorded entries')
  return [
    `${entries} of all accounts could not be numbered, so exports and checks leave them out. Is the database read-only?`,
  ]
}

/** `anchored` is missing in the answer of an older platform. */
type Made = { seq: number; hash: string; at: string; anchored?: boolean | null }

/**
 * `perkline audit-log checkpoint`: signs a checkpoint of the current log.
 *
 * @throws CommandError after printing it, when it could not be appended to AUDIT_ANCHOR_FILE
 */
export async function makeCheckpoint(options: OutputOptions): Promise<void> {
  const made = await callAdmin<Made>({ method: 'POST', path: '/audit-log/checkpoint' })
  print(options, made, [`Entry ${made.seq} and all before it: ${made.hash}`])
  if (made.anchored === false)
    throw new CommandError(
      'The checkpoint was made, but could not be appended to AUDIT_ANCHOR_FILE: the log of the platform says why.',
    )
}

export type VerifyOptions = OutputOptions & { file?: string; anchors?: string; keys?: string }

/**
 * `perkline audit-log verify`: checks a file without a platform, or asks the platform to check its log.
 *
 * @throws CommandError after printing the first bad entry
 */
export async function verifyLog(options: VerifyOptions): Promise<void> {
  const { file, anchors, keys } = options
  if (keys !== undefined && file === undefined) throw usageError('--keys goes with --file.')
  const { verified, why, unproven, unnumbered, read } =
    file === undefined ? await askPlatform(anchors) : await verifyFile(file, { anchors, keys })
  const { ok, fault } = verified
  const remark = `${unproven} of them come first of an account in this part of the log, so nothing proves their text.`
  const source = anchors !== undefined ? 'of --anchors' : file === undefined ? 'kept in the same database' : null
  const { incomplete } = read
  print(options, { ...verified, ...(file === undefined ? { unnumbered } : { unproven }), incomplete }, [
    extentOf(verified),
    ...beginningOf(verified),
    ...missingOf(unnumbered),
    ...(unproven > 0 ? [remark] : []),
    ...coverageOf(verified, source),
    ...remarksOn(read),
  ])
  if (!ok && fault) throw new CommandError(`Entry ${fault.seq} does not fit: ${fault.reason}.${why ? ` ${why}` : ''}`)
}

function extentOf({ entries, checkedFrom, checkedUntil }: Verified): string {
  if (!checkedFrom || !checkedUntil) return `${entries} entries fit.`
  const [from, until] = [checkedFrom, checkedUntil].map(({ seq, at }) => `entry ${seq} of ${minute(at)}`)
  return `${entries} entries fit, from ${from} until ${until}.`
}

/**
 * Returns the remark on a log that does not begin with entry 1. The earlier entries may have been removed for their
 * age, or by an attacker.
 */
function beginningOf({ checkedFrom }: Verified): string[] {
  const before = (checkedFrom?.seq ?? 1) - 1
  if (before === 0) return []
  return [
    `${before} entries before these are not there: they may be removed only for their age (AUDIT_RETENTION_YEARS).`,
  ]
}

/**
 * Returns lines that say which entries the checkpoints cover.
 *
 * @param source where the checkpoints are stored; null when none were given
 */
function coverageOf({ covered, entries }: VerifiedLog, source: string | null): string[] {
  const { checkpoints, until, uncovered } = covered
  if (entries === 0) return []
  const open = 'nothing but a later checkpoint can show that they were changed or cut off'
  const covers = until === null ? [] : [`Checkpoints ${source}, ${checkpoints} of them, cover entries until ${until}.`]
  return uncovered === 0 ? covers : [...covers, `No checkpoint covers the last ${uncovered} entries: ${open}.`]
}

/**
 * Returns a remark on each thing that was not checked. Without it, the reader could think that everything was checked.
 */
function remarksOn({ passedOver, incomplete, unsigned }: ReadAnchors): string[] {
  const foreign = counted(passedOver, 'note of another platform was', 'notes of another platform were')
  const broken = counted(incomplete, 'note is incomplete and was', 'notes are incomplete and were')
  return [
    ...(passedOver > 0 ? [`${foreign} passed over.`] : []),
    ...(incomplete > 0 ? [`${broken} passed over.`] : []),
    ...(unsigned === null ? [] : [unsigned]),
  ]
}

/** The maximum size of the file of `--anchors`. It is enough for one checkpoint an hour for several years. */
const maxAnchorBytes = 16 * 1024 * 1024
const maxKeysBytes = 1024 * 1024

type VerifiedLog = Verified & { covered: Covered }
/** `unnumbered` is missing in the answer of an older platform. */
type PlatformVerified = VerifiedLog & { incomplete: number; unnumbered?: number }

async function askPlatform(anchorFile: string | undefined): Promise<Checked> {
  const anchors = anchorFile === undefined ? undefined : await readText(anchorFile, maxAnchorBytes, true)
  // With no complete checkpoint the check would succeed but prove nothing.
  if (anchors !== undefined && splitNotes(anchors).every(isIncomplete))
    throw new CommandError(`${anchorFile} has no checkpoint, so nothing was checked.`)
  const {
    incomplete,
    unnumbered = 0,
    ...verified
  } = await callAdmin<PlatformVerified>({
    method: 'POST',
    path: '/audit-log/verify',
    json: { anchors },
    long: true,
  })
  return { verified, why: null, unproven: 0, unnumbered, read: { ...noAnchors, incomplete } }
}

/** `why` is a sentence that explains the error; null: the code of the error (`fault.reason`) is enough. */
type FileVerified = { verified: VerifiedLog; why: string | null }
type Checked = FileVerified & { unproven: number; unnumbered: number; read: ReadAnchors }

async function verifyFile(
  path: string,
  { anchors, keys }: { anchors: string | undefined; keys: string | undefined },
): Promise<Checked> {
  const known = keys === undefined ? null : readKeys(keys, await readText(keys, maxKeysBytes))
  const chain = await chainOfFile(path)
  const read =
    anchors === undefined
      ? noAnchors
      : await readAnchors({ path: anchors, text: await readText(anchors, maxAnchorBytes, true) }, known, chain)
  const outside = read.anchors
  const verifier = createVerifier({ all: null }, outside)
  const foreign = await checkLines(path, verifier)
  const ended = verifier.end()
  if (foreign === null && ended.ok && ended.entries === 0)
    throw new CommandError(`${path} is empty, so nothing was checked.`)
  const verified = { ...ended, covered: coveredBy(outside, ended) }
  const rest = { unproven: verifier.unproven(), unnumbered: 0, read }
  const foreignLine = `${path}, line ${foreign}, is no line of an audit log.`
  if (foreign !== null) return { ...failedAt(verified, 'changed', foreignLine), ...rest }
  const isUncovered = anchors !== undefined && verified.ok && verified.covered.checkpoints === 0
  if (isUncovered) return { ...failedAt(verified, 'checkpoint', nothingCovered), ...rest }
  return { verified, why: verified.fault?.reason === 'cut-off' ? cutOff(outside) : null, ...rest }
}

/**
 * Explains that the end of a file is missing. A file that covers only a period looks the same as a file that was cut
 * off. Only the person who made the file knows whether the end is missing.
 */
function cutOff(outside: readonly Anchor[]): string {
  return `A checkpoint covers entries until ${lastOf(outside)}. If the file is of a period only, check it with the checkpoints until its end.`
}

/**
 * Passes the lines of a file to the verifier, until one is wrong.
 *
 * @returns the number of the first line that does not have the form of a log's line; null if there is no such line. If
 *   the verifier refused a line, the verifier has the error
 */
async function checkLines(path: string, verifier: Verifier): Promise<number | null> {
  let number = 0
  for await (const texts of linesOf(path))
    for (const text of texts) {
      number++
      if (text === '' || text === '\r') continue
      const line = readLine(text)
      if (line === null) return number
      if (!verifier.add(line)) return null
    }
  return null
}

const nothingCovered = 'No checkpoint of the file of --anchors covers any entry.'

/**
 * Makes the result for the two errors that the verifier cannot find: a line is not a line of a log, or no checkpoint
 * covers an entry of the file.
 */
function failedAt(verified: VerifiedLog, reason: Fault['reason'], why: string): FileVerified {
  const reached = verified.checkedUntil?.seq ?? 0
  const seq = (reason === 'checkpoint' ? reached - verified.entries : reached) + 1
  return { verified: { ...verified, ok: false, fault: { seq, reason } }, why }
}

/**
 * Finds out from the first line which chain a file contains. @returns null when the file has no line, or the first line
 * is not a line of a log
 */
async function chainOfFile(path: string): Promise<FileChain | null> {
  for await (const texts of linesOf(path))
    for (const text of texts) {
      if (text === '' || text === '\r') continue
      const line = readLine(text)
      if (line === null) return null
      return line.seq === null ? { of: 'account', id: accountIdOf(line.entry) } : { of: 'all' }
    }
  return null
}

/** Reads a line of a file. @returns null when the text is not a line of a log */
function readLine(text: string): Line | null {
  const line = parseOrNull(text)
  if (typeof line !== 'object' || line === null) return null
  const { seq = null, entry, accountHash, hash = null } = line as Record<string, unknown>
  if (typeof entry !== 'string' || typeof accountHash !== 'string') return null
  if ((seq !== null && !isNumber(seq)) || (hash !== null && typeof hash !== 'string')) return null
  const hashes = { accountHash: readHash(accountHash), hash: hash === null ? null : readHash(hash) }
  return hashes.accountHash.length === hashBytes && (hashes.hash?.length ?? hashBytes) === hashBytes
    ? { seq, entry, ...hashes }
    : null
}

/** Reads a hash. @returns an empty buffer when the text is not as long as a hash */
const readHash = (text: string): Buffer => Buffer.from(text.length === 2 * hashBytes ? text : '', 'hex')

const hashBytes = 32

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value)
