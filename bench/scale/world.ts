/** A database of any size, filled in minutes, with rows that the audit finds in order. */
import { randomBytes } from 'node:crypto'
import { openDatabase } from '../../src/db/database.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { createSealing, loadIndexKey } from '../../src/esim/sealing.ts'
import { makeCampaigns } from './campaigns.ts'
import { makeDirectory } from './directory.ts'
import { type Connect, connectTo, withoutIndexes } from './loading.ts'
import { makeOrders } from './orders.ts'
import { makeProfiles } from './profiles.ts'
import { checkSizes, type Sizes } from './sizes.ts'

/** What a platform on the database needs. */
export type Keys = { masterKey: string; operatorKey: string }

/**
 * The rows are those of this migration's schema. The later migrations run when the tables are full, as they do for whoever upgrades:
 * what they count and note for readers is theirs to fill.
 */
const schemaOfRows = 25

/**
 * Fills an empty database.
 *
 * @param tell told after each step what has been done, with its seconds
 * @throws Error when there is no world of these sizes
 */
export async function makeScaleWorld(url: string, sizes: Sizes, tell: (line: string) => void): Promise<Keys> {
  checkSizes(sizes)
  const database = openDatabase({ connection: { connectionString: url }, poolSize: 2 })
  const keys = { masterKey: randomBytes(32).toString('base64'), operatorKey: randomBytes(32).toString('hex') }
  const connect = connectTo(url)
  const step = async (name: string, work: Promise<unknown>) => {
    const start = performance.now()
    await work
    tell(`  ${name}: ${Math.round((performance.now() - start) / 1000)} s`)
  }
  try {
    await migrate(
      database,
      readMigrations().filter(({ version }) => version <= schemaOfRows),
    )
    const masterKeys = [Buffer.from(keys.masterKey, 'base64')]
    const sealing = createSealing(masterKeys, await loadIndexKey(database, masterKeys))
    const now = new Date()
    await withClient(connect, client => makeDirectory(client, sizes))
    await withoutIndexes(
      connect,
      ['profiles', 'orders', 'campaigns', 'campaign_banks', 'campaign_history'],
      async () => {
        await Promise.all([
          step(
            'profiles',
            withClient(connect, client => makeProfiles(client, sealing, sizes)),
          ),
          step('orders', makeOrders(connect, sizes, now)).then(() =>
            step('campaigns', makeCampaigns(connect, sizes, now)),
          ),
        ])
        tell('  indexes ...')
      },
    )
    await step(
      'statistics',
      withClient(connect, client => client.query('vacuum analyze')),
    )
    await step('later migrations', migrate(database))
    await step(
      'statistics of these',
      withClient(connect, client => client.query('vacuum analyze')),
    )
    return keys
  } finally {
    await database.close()
  }
}

async function withClient<T>(connect: Connect, work: (client: Awaited<ReturnType<Connect>>) => Promise<T>): Promise<T> {
  const client = await connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
