/** `perkline backup verify`: checks a database restored from a backup. It needs the master key, but no platform. */
import { setTimeout as sleep } from 'node:timers/promises'
import { processEnvironment } from '../config.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { readInstant } from '../text/instant.ts'
import { type CopyReport, isServedOn, verifyCopy } from '../upkeep/backup.ts'
import { readRecovery, type TableCount } from '../upkeep/copy-store.ts'
import { readDatabaseUrlOnly, readMasterKeysOnly } from './command-settings.ts'
import { callAdmin } from './connection.ts'
import { CommandError, usageError } from './failure.ts'
import { counted, type OutputOptions, plain, print } from './output.ts'
import { showProgress } from './progress.ts'

/** The maximum time to wait until a restored database has replayed PostgreSQL's log after its start. */
const recoverWithinMs = 60_000

export type VerifyBackupOptions = OutputOptions & { databaseUrl?: string; expectAfter?: string; live?: string }

/**
 * Runs every check and prints the results.
 *
 * @throws CommandError with exit code 1 when a check fails; 2 when a platform is running on that database, and for
 *   wrong usage
 */
export async function verifyBackup(options: VerifyBackupOptions): Promise<void> {
  const { live } = options
  const databaseUrl = options.databaseUrl ?? readDatabaseUrlOnly(processEnvironment())
  if (databaseUrl === null)
    throw usageError('Which copy? Set DATABASE_URL_FILE or DATABASE_URL to its address, or give --database-url.')
  if (!/^postgres(?:ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl))
    throw usageError('The address of the copy must be a URL that starts with postgres://')
  const expectAfter = options.expectAfter === undefined ? null : readExpected(options.expectAfter)
  const masterKeys = readMasterKeysOnly(processEnvironment())
  const database = openDatabase({ connection: { connectionString: databaseUrl }, poolSize: 2 })
  const bar = await showProgress('Verifying')
  try {
    if (await isServedOn(database).catch(unreachable)) throw served()
    bar.show(0, 100, 'waiting for the end of the recovery')
    await endOfRecovery(database)
    const report = await verifyCopy({
      database,
      masterKeys,
      expectAfter,
      liveCounts: live === undefined ? null : until => countThere(live, until),
      onProgress: ({ percent, step }) => bar.show(percent, 100, step),
    })
    bar.end()
    printReport(options, report)
  } finally {
    bar.end()
    await database.close()
  }
}

function printReport(options: OutputOptions, report: CopyReport): void {
  print(options, report, [
    ...report.checks.map(({ name, ok, detail }) => plain(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${detail}`)),
    `Took ${report.durationSeconds} s.`,
  ])
  if (report.ok) return
  const failed = report.checks.filter(({ ok }) => !ok).map(({ name }) => plain(name))
  throw new CommandError(`The copy failed ${counted(failed.length, 'check', 'checks')} (${failed.join(', ')}).`)
}

function readExpected(text: string): Date {
  const instant = readInstant(text)
  if (!instant) throw usageError('--expect-after must be an instant, like 2026-11-23T04:00:00Z')
  return instant
}

const served = () =>
  new CommandError(
    'A platform is serving on this database, so it is no restored copy: give the address of the copy.',
    2,
  )

/**
 * Waits until a copy has replayed PostgreSQL's log. Before that, the copy already accepts reads, but its data still
 * changes.
 *
 * @throws CommandError when the replay takes too long
 */
async function endOfRecovery(database: Database): Promise<void> {
  const giveUpAtMs = performance.now() + recoverWithinMs
  while (await readRecovery(database).catch(unreachable)) {
    if (performance.now() > giveUpAtMs)
      throw new CommandError(
        'The copy is still replaying its log: try again when `select pg_is_in_recovery()` says f, and promote it if it is a standby.',
      )
    await sleep(500)
  }
}

/** Reports a copy that can't be reached. @throws CommandError with the reason */
function unreachable(error: unknown): never {
  const cause = error instanceof DomainError ? error.cause : error
  const { message, code } = (cause ?? {}) as { message?: string; code?: string }
  throw new CommandError(plain(`The copy can't be reached (${message || code || 'no answer'}): check its address.`))
}

/** Counts the rows on a running platform. @param live the address of that platform */
const countThere = async (live: string, until: Date): Promise<TableCount[]> => {
  const path = `/support/counts?until=${encodeURIComponent(until.toISOString())}`
  const { tables } = await callAdmin<{ tables: TableCount[] }>({ method: 'GET', path, url: live, long: true })
  return tables
}
