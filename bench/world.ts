/** Makes the database that most cases copy: a directory, a credential and a large stock of profiles. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { profileLines } from '../samples/make-profiles.ts'
import { issueCredential } from '../src/access/operations.ts'
import { createClock } from '../src/clock.ts'
import { openDatabase } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { importProfiles } from '../src/esim/stock/operations.ts'
import { createSealing, loadIndexKey } from '../src/esim/stock/sealing.ts'
import { applyDirectory } from '../src/partners/operations.ts'
import type { DatabaseServer } from './database.ts'

export const operatorCode = 'kyivstar'
export const tariffCode = 'eu-10gb'

export type World = {
  /** The database to copy; nobody may be connected to it. */
  template: string
  masterKey: string
  operatorKey: string
  credential: { clientId: string; secret: string }
  bankId: string
  /** The id of the only tariff that has stock. */
  tariffId: number
  profiles: number
}

const manyTariffs = Array.from(
  { length: 12 },
  (_, index) =>
    `        - { code: eu-${index + 1}gb, name: Europe ${index + 1} GB, description: Data in all of Europe, price: ${index + 1}99.00, ` +
    `currency: UAH, dataVolumeMb: ${1024 * (index + 1)}, validityDays: 30 }`,
)

const directory = `
banks:
  - { code: alpha, name: Alpha Bank, logoUrl: https://alpha.example/logo.svg, apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }
esim:
  operators:
    - { code: roamwide, nameUk: Роамвайд, nameEn: Roamwide, country: global, tariffs: [] }
    - code: ${operatorCode}
      nameUk: Київстар
      nameEn: Kyivstar
      logoUrl: https://kyivstar.example/logo.svg
      country: UA
      tariffs:
${manyTariffs.join('\n')}
`

export async function makeWorld(server: DatabaseServer, profiles: number): Promise<World> {
  const template = 'bench_template'
  await server.create(template)
  const database = openDatabase({ connection: { connectionString: server.url(template) }, poolSize: 4 })
  const masterKey = randomBytes(32).toString('base64')
  const clock = createClock()
  try {
    await migrate(database)
    await applyDirectory({ database, clock }, { directory, files: new Map(), dryRun: false })
    const partner = { bank: 'alpha' }
    const credential = await issueCredential({ database }, { partner, role: 'ADMIN', label: 'bench' })
    const [found] = await database.query<{ bankId: string; tariffId: number }>(
      `select bank_id as "bankId", tariff_id as "tariffId" from banks, tariffs where tariffs.code = '${tariffCode}'`,
    )
    if (!found) throw new Error('The directory was not applied')
    const masterKeys = [Buffer.from(masterKey, 'base64')]
    const sealing = createSealing(masterKeys, await loadIndexKey(database, masterKeys))
    const source = Readable.from(profileLines({ count: profiles, seed: 1 }))
    await importProfiles({ database, clock, sealing }, { tariffId: found.tariffId, source, skipInvalid: false })
    await database.execute('vacuum analyze')
    return { template, masterKey, operatorKey: randomBytes(32).toString('hex'), credential, ...found, profiles }
  } finally {
    await database.close()
  }
}
