/**
 * Checks a restored copy (contract/production.md, "Backup"): whether it is complete, readable with the available
 * master key and consistent, and how recent it is. Only reads the copy.
 */
import { openFactors } from '../access/factors/factors.ts'
import { openTokenKeys } from '../access/token-keys.ts'
import { findSigner } from '../audit-log/keys.ts'
import { realMs } from '../clock.ts'
import { type Database, type Queryable, queryable } from '../db/database.ts'
import { pendingMigrations } from '../db/migrate.ts'
import { countServing } from '../db/versions.ts'
import { createSealing, readIndexKey } from '../esim/stock/sealing.ts'
import { createSealer } from '../sealing.ts'
import { checkSecrets, webhookPurpose } from '../webhooks/stored-secrets.ts'
import { proveCopy } from './audit/audit.ts'
import { prepare } from './audit/store.ts'
import {
  countTables,
  drawProfiles,
  findNewest,
  type RecordKind,
  readNow,
  recordKinds,
  type TableCount,
} from './copy-store.ts'

type CopyCheck = { name: string; ok: boolean; detail: string }
export type CopyReport = {
  ok: boolean
  checks: CopyCheck[]
  newest: Record<RecordKind, { at: string; ageSeconds: number } | null>
  counts: TableCount[]
  durationSeconds: number
}

export type VerifyOptions = {
  database: Database
  masterKeys: readonly Buffer[]
  /** Fails if the newest record is older than this. */
  expectAfter: Date | null
  /**
   * Counts the rows of the original platform that were created until an instant; null: do not compare the copy with the
   * original.
   */
  liveCounts: ((until: Date) => Promise<TableCount[]>) | null
  onProgress?: (progress: { percent: number; step: string }) => void
}

const drawnProfiles = 1_000
/** The time limit for counting the rows of one table. A table of many millions of rows takes long. */
const countWithin = '30min'

/** Whether a platform is running on this database. If so, the database is not a restored copy. */
export const isServedOn = async (database: Queryable): Promise<boolean> => (await countServing(database)) > 0

/** Runs every check. A check that cannot run counts as failed and says why. */
export async function verifyCopy(options: VerifyOptions): Promise<CopyReport> {
  const startedAtMs = performance.now()
  return options.database.dedicated(async client => {
    const connection = queryable(client)
    const schema = await attempt('schema', () => checkSchema(connection))
    const report = schema.ok ? await verifyContents(connection, options) : noContents
    const checks = [schema, ...report.checks]
    return {
      ok: checks.every(({ ok }) => ok),
      checks,
      newest: report.newest,
      counts: report.counts,
      durationSeconds: Math.round((performance.now() - startedAtMs) / 100) / 10,
    }
  })
}

type Contents = Pick<CopyReport, 'checks' | 'newest' | 'counts'>
const nothingNewest = { order: null, event: null, statement: null, auditEntry: null }
const noContents: Contents = { checks: [], newest: nothingNewest, counts: [] }

async function verifyContents(connection: Queryable, options: VerifyOptions): Promise<Contents> {
  await prepare(connection)
  const now = await readNow(connection)
  const keys = await attempt('master-key', () => checkKeys(connection, options.masterKeys))
  const books = await checkBooks(connection, options, now)
  await connection.execute(`set statement_timeout = '${countWithin}'`)
  const newest: Contents['newest'] = { ...nothingNewest }
  const age = await attempt('newest', () => checkNewest(connection, { newest, now, expectAfter: options.expectAfter }))
  const counts: TableCount[] = []
  const counted = await attempt('counts', () => checkCounts(connection, { counts, newest, live: options.liveCounts }))
  return { checks: [keys, ...books, age, counted], newest, counts }
}

type Outcome = { ok: boolean; detail: string }

async function attempt(name: string, check: () => Promise<Outcome>): Promise<CopyCheck> {
  try {
    return { name, ...(await check()) }
  } catch (error) {
    return { name, ok: false, detail: causeOf(error) }
  }
}

/** Returns the database's own message if there is one, because it names the damaged file or block. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  if (cause instanceof Error) return cause.message
  return error instanceof Error ? error.message : String(error)
}

async function checkSchema(connection: Queryable): Promise<Outcome> {
  const pending = await pendingMigrations(connection)
  if (pending.length === 0) return { ok: true, detail: 'the schema is that of this program' }
  const names = pending.map(({ name }) => name).join(', ')
  return {
    ok: false,
    detail: `${pending.length} migrations of this program are missing: ${names}. Use the program of the backup`,
  }
}

async function checkKeys(connection: Queryable, masterKeys: readonly Buffer[]): Promise<Outcome> {
  const sealing = createSealing(masterKeys, await readIndexKey(connection, masterKeys))
  const tokenKeys = await openTokenKeys(connection, masterKeys, realMs())
  const secrets = await checkSecrets(connection, masterKeys)
  const apps = await openFactors(connection, masterKeys)
  await findSigner(connection, masterKeys)
  const profiles = await drawProfiles(connection, drawnProfiles)
  for (const { sealed, ...row } of profiles) {
    const { iccid } = sealing.open(sealed, row)
    if (!sealing.hashIccid(iccid).equals(row.iccidHash))
      return { ok: false, detail: `profile ${row.profileId} opens, but is another one` }
  }
  return {
    ok: true,
    detail: `MASTER_KEY opens ${profiles.length} profiles drawn by chance, the keys of the stock and the audit log, ${tokenKeys} token keys, ${secrets} secrets of endpoints, the key of recovery codes and the secrets of ${apps} authenticator apps`,
  }
}

/** Runs the checks of `perkline audit`, and returns each as a check of the copy. */
async function checkBooks(connection: Queryable, options: VerifyOptions, now: Date): Promise<CopyCheck[]> {
  const { database, masterKeys, onProgress } = options
  const retention = { reportLinesDays: null, segmentsDays: null, msisdnDays: null }
  try {
    const sealing = createSealing(masterKeys, await readIndexKey(connection, masterKeys))
    const webhooks = { sealer: createSealer(masterKeys, webhookPurpose) }
    const { checks } = await proveCopy(
      { database, sealing, webhooks, masterKeys, retention },
      connection,
      now,
      onProgress,
    )
    return checks.map(({ code, ok, detail }) => ({ name: code, ok, detail }))
  } catch (error) {
    return [{ name: 'audit', ok: false, detail: causeOf(error) }]
  }
}

async function checkNewest(
  connection: Queryable,
  params: { newest: Contents['newest']; now: Date; expectAfter: Date | null },
): Promise<Outcome> {
  const { newest, now, expectAfter } = params
  for (const kind of recordKinds) {
    const at = await findNewest(connection, kind)
    if (at) newest[kind] = { at: at.toISOString(), ageSeconds: Math.round((now.getTime() - at.getTime()) / 1_000) }
  }
  const latest = latestOf(newest)
  const newestOfKinds = recordKinds.flatMap(kind => (newest[kind] ? `${kind} ${newest[kind].at}` : []))
  const detail =
    newestOfKinds.length === 0 ? 'the copy holds no record' : `the newest records: ${newestOfKinds.join(', ')}`
  const isOld = expectAfter !== null && (latest === null || latest < expectAfter)
  return isOld
    ? { ok: false, detail: `${detail}; expected was one after ${expectAfter.toISOString()}` }
    : { ok: true, detail }
}

function latestOf(newest: Contents['newest']): Date | null {
  const instants = Object.values(newest).flatMap(record => (record ? Date.parse(record.at) : []))
  return instants.length === 0 ? null : new Date(Math.max(...instants))
}

/** The table of credentials, people and client secrets whose access has ended. */
const endedAccess = 'ended_access'
const accessIsBack =
  '. LOOK AT ended_access: access that has ended there works again in this copy. End it again before partners come back (docs/backup.md)'

/**
 * Compares the numbers of rows. A difference is reported but is not a failure, because the platform has changed since
 * the backup.
 */
async function checkCounts(
  connection: Queryable,
  params: { counts: TableCount[]; newest: Contents['newest']; live: VerifyOptions['liveCounts'] },
): Promise<Outcome> {
  const { counts, newest, live } = params
  const until = latestOf(newest)
  counts.push(...(await countTables(connection, until)))
  const detail = `${counts.reduce((sum, { rows }) => sum + rows, 0)} rows in ${counts.length} tables`
  if (!live || !until) return { ok: true, detail }
  const liveRows = new Map((await live(until)).map(({ table, rows }) => [table, rows]))
  const differing = counts.flatMap(({ table, rows }) => {
    const there = liveRows.get(table)
    return there === undefined || there === rows ? [] : `${table} ${rows} (there ${there})`
  })
  const isMissingEnds = counts.some(({ table, rows }) => table === endedAccess && rows < (liveRows.get(table) ?? 0))
  const others = `${detail}; others than there: ${differing.join(', ')}${isMissingEnds ? accessIsBack : ''}`
  return { ok: true, detail: differing.length === 0 ? `${detail}, as many as there` : others }
}
