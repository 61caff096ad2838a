/** Makes worlds: databases of any size, filled within minutes with generated rows that pass the audit. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { createSealing, loadIndexKey } from '../../src/esim/stock/sealing.ts'
import type { Bench } from '../bench.ts'
import { makeCampaigns } from './campaigns.ts'
import { makeDirectory } from './directory.ts'
import { type Connect, connectTo, withoutIndexes } from './loading.ts'
import { makeOrders } from './orders.ts'
import { makeProfiles } from './profiles.ts'
import { checkSizes, type Sizes } from './sizes.ts'
import { closeAllSales } from './statements.ts'

/** What a platform on the database needs. */
export type Keys = { masterKey: string; operatorKey: string }

/**
 * The number of the migration after which the tables are filled. The later migrations then run on these rows, as in an
 * upgrade, and fill the columns and tables that they add.
 */
const schemaOfRows = 25

/** Makes a database with a world, unless an earlier run has kept a world of the same sizes in this folder. */
export async function keptWorld({ server, folder, tell }: Bench, database: string, sizes: Sizes): Promise<Keys> {
  const note = join(folder, `${database}.json`)
  if (existsSync(note)) {
    const kept = JSON.parse(readFileSync(note, 'utf8')) as { sizes: Sizes; keys: Keys }
    if (JSON.stringify(kept.sizes) === JSON.stringify(sizes)) {
      await migrateScaleWorld(server.url(database), tell)
      return kept.keys
    }
  }
  tell(`  ${database}: ${JSON.stringify(sizes)}`)
  await server.create(database)
  const keys = await makeScaleWorld(server.url(database), sizes, tell)
  await server.run('postgres', 'checkpoint')
  writeFileSync(note, JSON.stringify({ sizes, keys }))
  return keys
}

/**
 * Fills an empty database.
 *
 * @param tell called after each step with what was done and how many seconds it took
 * @throws Error when a world cannot have these sizes
 */
export async function makeScaleWorld(url: string, sizes: Sizes, tell: (line: string) => void): Promise<Keys> {
  checkSizes(sizes)
  const keys = { masterKey: randomBytes(32).toString('base64'), operatorKey: randomBytes(32).toString('hex') }
  const sealing = await withDatabase(url, async database => {
    await migrate(
      database,
      readMigrations().filter(({ version }) => version <= schemaOfRows),
    )
    const masterKeys = [Buffer.from(keys.masterKey, 'base64')]
    return createSealing(masterKeys, await loadIndexKey(database, masterKeys))
  })
  const connect = connectTo(url)
  const now = new Date()
  await withClient(connect, client => makeDirectory(client, sizes))
  const filled = ['profiles', 'orders', 'campaigns', 'campaign_banks', 'campaign_history']
  await timed(tell, 'rows and indexes', () =>
    withoutIndexes(connect, filled, async () => {
      const stock = timed(tell, 'profiles', () => withClient(connect, client => makeProfiles(client, sealing, sizes)))
      await timed(tell, 'orders', () => makeOrders(connect, sizes, now))
      await timed(tell, 'campaigns', () => makeCampaigns(connect, sizes, now))
      await stock
    }),
  )
  await vacuum(connect)
  await migrateScaleWorld(url, tell)
  await timed(tell, 'statements', () => withDatabase(url, closeAllSales))
  await vacuum(connect)
  return keys
}

/** Applies the remaining migrations to a world. */
async function migrateScaleWorld(url: string, tell: (line: string) => void): Promise<void> {
  const applied = await timed(tell, 'later migrations', () => withDatabase(url, database => migrate(database)))
  if (applied.length > 0) await vacuum(connectTo(url))
}

const vacuum = (connect: Connect) => withClient(connect, client => client.query('vacuum analyze'))

async function timed<T>(tell: (line: string) => void, name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const result = await work()
  tell(`  ${name}: ${Math.round((performance.now() - start) / 1000)} s`)
  return result
}

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ connection: { connectionString: url }, poolSize: 2 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

async function withClient<T>(connect: Connect, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
