/** `npm run reset`: makes a sandbox with the embedded database empty again. */
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, processEnvironment, readConfig } from '../config.ts'
import { takeFolder } from '../db/embedded/folder.ts'
import { boundMode } from '../db/mode.ts'
import { createLogger } from '../log.ts'
import { openConfiguredDatabase } from './opened-database.ts'

/** What belongs to the deleted sandbox besides its database. Everything else in the data folder stays, such as its lock. */
const parts = ['keys', 'master.key', 'operator.key', 'mail', 'postgres.log']

/**
 * Deletes the embedded database, its keys and the sandbox e-mails, so that the next start counts as a first start.
 *
 * @param json true: prints one JSON value
 * @throws ConfigError when there is no sandbox with an embedded database; Error while a platform uses it
 */
export async function reset(json: boolean): Promise<void> {
  const config = readConfig(processEnvironment())
  if (config.databaseUrl !== null) throw new ConfigError(['DATABASE_URL is set: only the embedded database is reset'])
  if (config.mode === 'live') throw new ConfigError(['PERKLINE_MODE is live: only a sandbox is reset'])
  const { dataDir } = config
  const cluster = join(dataDir, 'postgres')
  const isThere = existsSync(cluster)
  if (isThere) {
    await expectSandbox(config)
    await remove(dataDir, cluster)
  }
  const text = isThere
    ? `Deleted the sandbox in ${dataDir}. \`npm start\` makes a new one.`
    : `There is no sandbox in ${dataDir}.`
  process.stdout.write(json ? `${JSON.stringify({ dataDir, deleted: isThere })}\n` : `${text}\n`)
}

/**
 * Checks that the database was not used in live mode. The mode in the settings is no proof, because it may have been
 * changed.
 */
async function expectSandbox(config: ReturnType<typeof readConfig>): Promise<void> {
  const { database, close } = await openConfiguredDatabase(config, createLogger('silent'))
  try {
    const [table] = await database.query<{ there: boolean }>(`select to_regclass('database_mode') is not null as there`)
    if (table?.there && (await boundMode(database)) === 'live')
      throw new ConfigError([`the database in ${config.dataDir} belongs to live mode: only a sandbox is reset`])
  } finally {
    await close()
  }
}

async function remove(dataDir: string, cluster: string): Promise<void> {
  const release = await takeFolder(dataDir)
  try {
    // After this rename, the next start counts as a first start. If this command is interrupted, that start also
    // deletes the files left under this name.
    const old = join(dataDir, 'postgres.new-removed')
    await rm(old, { recursive: true, force: true })
    await rename(cluster, old)
    for (const part of parts) await rm(join(dataDir, part), { recursive: true, force: true })
    await rm(old, { recursive: true, force: true })
  } finally {
    await release()
  }
}
