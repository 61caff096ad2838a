/**
 * The command `perkline migrate`: brings the database to this version. With `--check` it reports what it would do.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from '../cli/failure.ts'
import { counted, plain, print } from '../cli/output.ts'
import { type Config, environment, readConfig } from '../config.ts'
import type { Database } from '../db/database.ts'
import { migrate, pendingMigrations } from '../db/migrate.ts'
import { findMissingCreate } from '../db/server-check.ts'
import { connectedVersions, previousVersion, refusedBy, servesOf } from '../db/versions.ts'
import { createLogger } from '../log.ts'
import { recoverOutbox } from '../outbox/tick-store.ts'
import { requireMasterKey } from '../sealed-keys.ts'
import { version } from '../version.ts'
import { openConfiguredDatabase, requireOwnSessions } from './opened-database.ts'
import { mayAnswerLater, startError } from './start-error.ts'

const askAgainMs = 1_000

/**
 * Brings the database to this version and exits (`perkline migrate`).
 *
 * @param options.json true: prints the applied migrations as one JSON value
 * @param options.wait how many seconds to wait for a database that is not running yet, for example while the machine
 *   starts
 */
export async function migrateOnly({ json, wait }: { json: boolean; wait: number }): Promise<void> {
  const config = readConfig(environment())
  const { database, close } = await openConfiguredDatabase(config, createLogger(config.logLevel))
  try {
    await waitFor(database, wait).catch(startError)
    await requireOwnSessions(database).catch(startError)
    await requireKeyOf(config, database).catch(startError)
    const applied = await migrate(database).catch(startError)
    await recoverOutbox(database)
    process.stdout.write(
      json
        ? `${JSON.stringify({ applied })}\n`
        : applied.length === 0
          ? 'The database is already at this version.\n'
          : `Applied ${applied.length} migration${applied.length === 1 ? '' : 's'}: ${applied.join(', ')}.\n`,
    )
  } finally {
    await close()
  }
}

/**
 * Without MASTER_KEY, nothing is checked: a sandbox with the embedded database keeps its key beside it.
 *
 * @throws SealingError when the database was sealed with other master keys
 */
async function requireKeyOf({ masterKeys }: Config, database: Database): Promise<void> {
  if (masterKeys.length > 0) await requireMasterKey(database, masterKeys)
}

async function waitFor(database: Database, seconds: number): Promise<void> {
  const giveUpAtMs = performance.now() + seconds * 1_000
  for (;;) {
    try {
      await database.execute('select')
      return
    } catch (error) {
      if (!mayAnswerLater(error) || performance.now() > giveUpAtMs) throw error
      await sleep(askAgainMs)
    }
  }
}

type MigrationCheck = {
  version: string
  pending: { version: number; name: string; serves: string | null }[]
  /** The previous release, and whether its processes can continue serving once these migrations are applied. */
  previousVersion: string
  previousVersionServes: boolean
  /** The versions of the processes that are connected now. */
  connected: string[]
}

/**
 * `perkline migrate --check`: reports the missing migrations and changes nothing.
 *
 * @throws SealingError when MASTER_KEY is not that of the database; CommandError when there is no database yet, or its user may not migrate it; with exit code 3 when processes of the previous version, or
 *   processes that are connected now, could not continue serving
 */
export async function checkMigrations(json: boolean): Promise<void> {
  const config = readConfig(environment())
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'postgres')))
    throw new CommandError(
      `There is no database to check: DATABASE_URL and DATABASE_URL_FILE are not set, and ${config.dataDir} has no embedded database.`,
    )
  const { database, close } = await openConfiguredDatabase(config, createLogger(config.logLevel))
  try {
    await requireKeyOf(config, database).catch(startError)
    const { check, refused } = await compare(database).catch(startError)
    print({ json }, check, linesOf(check))
    if (refused.length > 0)
      throw new CommandError(
        `Version ${refused.join(' and ')} could not go on serving: stop its processes before you migrate.`,
        3,
      )
    const denied = check.pending.length === 0 ? null : await findMissingCreate(database).catch(startError)
    if (denied !== null)
      throw new CommandError(
        `\`perkline migrate\` would fail: permission denied for schema ${denied.schema}. Check DATABASE_URL, and what its user ` +
          `${denied.user} may do.`,
      )
  } finally {
    await close()
  }
}

async function compare(database: Database): Promise<{ check: MigrationCheck; refused: string[] }> {
  const pending = await pendingMigrations(database)
  const connected = await connectedVersions(database)
  const texts = pending.map(({ sql }) => sql)
  const check = {
    version,
    pending: pending.map(({ version, name, sql }) => ({ version, name, serves: servesOf(sql) })),
    previousVersion,
    previousVersionServes: refusedBy(texts, [previousVersion]).length === 0,
    connected,
  }
  return { check, refused: refusedBy(texts, [...new Set([previousVersion, ...connected])]) }
}

function linesOf({ pending, previousVersion, previousVersionServes }: MigrationCheck): string[] {
  if (pending.length === 0) return ['The database is already at this version.']
  return [
    `${counted(pending.length, 'migration', 'migrations')} would be applied:`,
    ...pending.map(({ version, name }) => plain(`  ${String(version).padStart(4, '0')} ${name}`)),
    `Version ${previousVersion} ${previousVersionServes ? 'can' : 'cannot'} go on serving meanwhile and afterwards.`,
  ]
}
