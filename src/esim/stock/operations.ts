/**
 * Operations on the stock of profiles: import a stock file, and rotate the keys (contract/operations.md, "The stock
 * file").
 */
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as othersTurn } from 'node:timers/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Clock } from '../../clock.ts'
import { type Database, type Queryable, queryable } from '../../db/database.ts'
import { longTransaction } from '../../db/long-transaction.ts'
import { copyHeader, copyTrailer } from '../../db/streaming/copy-format.ts'
import { DomainError, type Problem } from '../../errors.ts'
import { recordEntries } from '../../outbox/audit-entry-writing.ts'
import { type Origin, operatorOrigin } from '../../outbox/origin.ts'
import { describeErrors } from '../../text/csv-lines.ts'
import { type CopyValue, encodeRows } from './copy.ts'
import { activationCodeTaken, readStockLines, type StockLine } from './file.ts'
import { createRejects, mergeRejects, type Reject, type Rejects } from './rejects.ts'
import { resealIndexKey, type Sealing } from './sealing.ts'
import * as stockStore from './store.ts'

/** @property origin who makes the change; without it, the platform itself */
export type StockDeps = { database: Database; clock: Clock; sealing: Sealing; origin?: Origin }

/** @property duplicateLines the first duplicates in the order of the file; left out when there are none */
export type Imported = {
  imported: number
  duplicates: number
  duplicateLines?: stockStore.DuplicateLine[]
  rejected: number
  rejects: Iterable<Reject>
}

const maxNamedErrors = 20
export const maxDuplicateLines = 20
const analyzeFrom = 1_000

/**
 * Loads a stock file into a tariff as a stream, in bounded memory, all or nothing. A profile that is already in stock,
 * in any tariff, is a duplicate and stays unchanged. A line with the activation code of another profile, in stock or earlier in
 * the file, is invalid.
 *
 * @param input.skipInvalid true: invalid lines are skipped and returned as `rejects`; false: with a single invalid line
 *   nothing is imported
 * @param input.dryRun true: everything is checked and counted, but nothing is kept
 * @throws DomainError 'invalid' for a file that has no header or is cut off; without `skipInvalid` also for invalid
 *   lines: the error contains the first 20 and the count of all
 */
export async function importProfiles(
  deps: StockDeps,
  input: { tariffId: number; source: Readable; skipInvalid: boolean; dryRun?: boolean },
): Promise<Imported> {
  const { tariffId, source, skipInvalid, dryRun = false } = input
  const rejects = createRejects()
  const takenCodes = createRejects()
  const counts = { staged: 0 }
  const load = async (client: pg.Client): Promise<Imported> => {
    const transaction = queryable(client)
    await stockStore.createStage(transaction)
    const rows = sealedRows({ deps, tariffId, source, rejects, counts })
    await pipeline(rows, client.query(copyFrom(stockStore.copyIntoStage)))
    await stockStore.lockImports(transaction)
    if (await stockStore.isOvertaken(transaction, tariffId)) await renumber(deps, transaction, tariffId)
    const imported = await stockStore.takeStaged(transaction, { tariffId, importedAt: deps.clock.now() })
    if (imported < counts.staged)
      for await (const lineNumbers of stockStore.findRefusedLines(transaction, tariffId))
        for (const lineNumber of lineNumbers) takenCodes.add(lineNumber, activationCodeTaken)
    const rejected = rejects.count + takenCodes.count
    if (!skipInvalid && rejected > 0) throw refusalOf(mergeRejects(rejects, takenCodes), rejected)
    if (imported > 0) await recordImported(transaction, deps.origin, { tariffId, imported })
    if (imported >= analyzeFrom && !dryRun) await stockStore.analyzeProfiles(transaction)
    const duplicates = counts.staged - imported - takenCodes.count
    const named = duplicates > 0 && {
      duplicateLines: await stockStore.findDuplicateLines(transaction, tariffId, maxDuplicateLines),
    }
    return { imported, duplicates, ...named, rejected, rejects: mergeRejects(rejects, takenCodes) }
  }
  return longTransaction(deps.database, load, { keep: !dryRun })
}

async function recordImported(
  transaction: Queryable,
  origin: Origin = operatorOrigin(),
  { tariffId, imported }: { tariffId: number; imported: number },
): Promise<void> {
  const object = { type: 'tariff', id: await stockStore.findTariffName(transaction, tariffId) }
  await recordEntries(transaction, origin, [
    { action: 'stock.imported', object, change: { profiles: [null, imported] } },
  ])
}

/**
 * Gives the staged profiles new ids. They must be above the ids of an import that finished meanwhile (see
 * `isOvertaken`). Each profile is sealed again, because its ciphertext is bound to its id. The caller holds the lock of
 * imports, so no other import can commit meanwhile.
 */
async function renumber(deps: StockDeps, transaction: Queryable, tariffId: number): Promise<void> {
  const { sealing } = deps
  const upTo = await stockStore.lastStagedId(transaction)
  await stockStore.indexStage(transaction)
  for (let after = 0; ; ) {
    const profiles = await stockStore.findStaged(transaction, { after, upTo, limit: resealedAtOnce })
    const ids = await stockStore.drawProfileIds(transaction, profiles.length)
    const changes = profiles.map(({ profileId, iccidHash, sealed }, n) => {
      const secrets = sealing.open(sealed, { profileId, tariffId, iccidHash })
      const id = ids[n] as number
      return { before: profileId, after: id, sealed: sealing.seal(secrets, { profileId: id, tariffId, iccidHash }) }
    })
    await stockStore.renumberStaged(transaction, changes)
    after = profiles.at(-1)?.profileId ?? upTo
    if (profiles.length < resealedAtOnce) return
  }
}

/**
 * After this many lines, an import draws this many ids at once, so that it waits for the database less often; the last
 * ids stay unused. For its first lines, it draws only the ids that it needs. So small imports leave no large gaps
 * between ids, which would distort random samples (`sampleSealedProfiles`, `drawProfiles`).
 */
const idsAtOnce = 5_000

/** Turns the lines of a file into rows for the database. Counts the rows, and adds the invalid lines to `rejects`. */
async function* sealedRows(work: {
  deps: Pick<StockDeps, 'database' | 'sealing'>
  tariffId: number
  source: Readable
  rejects: Rejects
  counts: { staged: number }
}): AsyncGenerator<Buffer> {
  const { deps, tariffId, rejects, counts } = work
  let ids: number[] = []
  yield copyHeader
  for await (const results of linesOf(work.source)) {
    const lines: (StockLine & { lineNumber: number })[] = []
    for (const { lineNumber, result } of results) {
      if ('error' in result) rejects.add(lineNumber, result.error)
      else lines.push({ ...result.line, lineNumber })
    }
    // Let other requests run first: sealing some hundred lines takes some milliseconds.
    await othersTurn()
    counts.staged += lines.length
    if (lines.length === 0) continue
    if (ids.length < lines.length) {
      const count = counts.staged < idsAtOnce ? lines.length : idsAtOnce
      ids = [...ids, ...(await stockStore.drawProfileIds(deps.database, count))]
    }
    const drawn = ids.splice(0, lines.length)
    yield encodeRows(lines.map((line, n) => sealLine(deps.sealing, { profileId: drawn[n] as number, tariffId }, line)))
  }
  yield copyTrailer
}

/**
 * Reads the lines of a source. If reading the source fails, the error is 'invalid', so that it does not look like a
 * failure of the database.
 */
async function* linesOf(source: Readable): ReturnType<typeof readStockLines> {
  try {
    yield* readStockLines(source)
  } catch (error) {
    if (error instanceof DomainError || 'statusCode' in Object(error)) throw error
    throw new DomainError('invalid', 'The file could not be read to its end; nothing was imported')
  }
}

/** @returns a row for `staged_profiles` */
function sealLine(
  sealing: Sealing,
  { profileId, tariffId }: { profileId: number; tariffId: number },
  line: StockLine & { lineNumber: number },
): CopyValue[] {
  const { msisdn, activationCode, lineNumber } = line
  const iccidHash = sealing.hashIccid(line.iccid)
  const sealed = sealing.seal(line, { profileId, tariffId, iccidHash })
  return [profileId, iccidHash, msisdn, sealed, sealing.hashActivationCode(activationCode), lineNumber]
}

/** The error for a file with invalid lines. It repeats no value of the file, because values are secrets. */
function refusalOf(rejects: Iterable<Reject>, count: number): DomainError {
  const texts: string[] = []
  const problems: Problem[] = []
  for (const { lineNumber, column, rule, reason } of rejects) {
    if (problems.length === maxNamedErrors) break
    const isOfLine = column === 'line'
    texts.push(`line ${lineNumber}${isOfLine ? '' : `, column ${column}`}: ${reason}`)
    problems.push({ line: lineNumber, column: isOfLine ? null : column, rule, params: {}, value: null })
  }
  const details = describeErrors(texts, count, 'nothing was imported')
  return new DomainError('invalid', details, { problems, problemCount: count })
}

/**
 * How many profiles are sealed again at once. The number is small, so that requests to the same process wait only some
 * milliseconds.
 */
const resealedAtOnce = 500

/**
 * Seals every profile, and the key of the ICCID index, under the first master key, so that the other keys can be
 * removed. Sales continue meanwhile. After an interruption, run it again.
 *
 * @param options.onProgress called after each step with the number of examined profiles
 * @returns how many profiles were sealed again
 */
export async function rotateKeys(
  deps: { database: Database; sealing: Sealing; masterKeys: readonly Buffer[]; origin?: Origin },
  options: { onProgress?: (progress: { done: number; total: number }) => void } = {},
): Promise<{ resealed: number }> {
  const { database, sealing } = deps
  const total = await stockStore.countProfiles(database)
  let done = 0
  let resealed = 0
  for (let last = 0; ; ) {
    const profiles = await stockStore.findSealedProfiles(database, last, resealedAtOnce)
    const changes = profiles
      .filter(({ sealed }) => !sealing.isCurrent(sealed))
      .map(profile => ({
        profileId: profile.profileId,
        before: profile.sealed,
        after: sealing.seal(sealing.open(profile.sealed, profile), profile),
      }))
    if (changes.length > 0) resealed += await stockStore.replaceSealed(database, changes)
    done += profiles.length
    options.onProgress?.({ done, total: Math.max(done, total) })
    last = profiles.at(-1)?.profileId ?? last
    if (profiles.length < resealedAtOnce) break
  }
  await resealIndexKey(database, deps.masterKeys)
  const change = { resealed: [null, resealed] } as const
  await recordEntries(database, deps.origin ?? operatorOrigin(), [
    { action: 'keys.rotated', object: masterKeys, change },
  ])
  return { resealed }
}

const masterKeys = { type: 'master-keys', id: null }
