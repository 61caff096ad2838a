/**
 * Loads sample data into an empty database, so that people can try the platform out (contract/operations.md, "Two
 * commands").
 */
import { randomBytes } from 'node:crypto'
import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import type { PartnerReference } from '../access/accounts.ts'
import { addUser, issueCredential, type UserOwner } from '../access/operations.ts'
import type { CampaignDeps } from '../campaigns/deps.ts'
import type { Database, Queryable } from '../db/database.ts'
import type { Catalogue } from '../esim/catalogue.ts'
import { importProfiles, type StockDeps } from '../esim/stock/operations.ts'
import type { Logger } from '../log.ts'
import { terminalsFilesOf } from '../partners/file/directory-file.ts'
import { type ApplyDeps, applyDirectory } from '../partners/operations.ts'
import { importCustomers } from '../segments/customers.ts'
import { makeSampleCampaigns } from './sample-campaigns.ts'

const samplesLock = 7_365_070
const folder = new URL('../../samples/', import.meta.url)

export type SampleCredential = { partner: string; clientId: string; secret: string }
export type SampleLogin = { account: 'bank' | 'merchant' | 'platform'; login: string; password: string }
export type Samples = { credentials: SampleCredential[]; logins: SampleLogin[] }

/** The parts of the platform that the samples need. */
type SamplePlatform = {
  database: Database
  deps: {
    admin: ApplyDeps & StockDeps & { catalogue: Catalogue }
    campaigns: Pick<CampaignDeps, 'clock' | 'completeAfterMs'>
  }
}

/**
 * Loads the samples if the database is empty. When several processes start on an empty database, one loads the samples
 * and the others wait for it.
 *
 * @returns the sample credentials and logins, made now and shown once; null when the database was not empty
 */
export async function loadSamples(platform: SamplePlatform, logger: Logger): Promise<Samples | null> {
  const { database } = platform
  if (!(await isEmpty(database))) return null
  return database.dedicated(async client => {
    // The lock is held until the connection closes.
    await client.query('select pg_advisory_lock($1)', [samplesLock])
    return (await isEmpty(database)) ? load(platform, logger) : null
  })
}

async function load({ database, deps }: SamplePlatform, logger: Logger): Promise<Samples> {
  const directory = readFileSync(new URL('directory.yaml', folder), 'utf8')
  const files = new Map(terminalsFilesOf(directory).map(path => [path, readFileSync(new URL(path, folder), 'utf8')]))
  const { admin } = deps
  await database.execute('insert into sample_loading default values on conflict do nothing')
  await applyDirectory(admin, { directory, files, dryRun: false })
  await admin.catalogue.refresh()

  for (const file of readdirSync(new URL('profiles/', folder)).sort()) {
    const [, operatorCode = '', tariffCode = ''] = /^([^.]+)\.(.+)\.csv$/.exec(file) ?? []
    const tariff = admin.catalogue.operatorByCode(operatorCode)?.tariffs.get(tariffCode)
    if (!tariff) throw new Error(`The sample stock ${file} names no tariff of the sample directory`)
    const source = createReadStream(new URL(`profiles/${file}`, folder))
    await importProfiles(admin, { tariffId: tariff.tariffId, source, skipInvalid: false })
  }
  for (const file of readdirSync(new URL('customers/', folder)).sort())
    await importCustomers(admin, {
      bank: file.replace('.csv', ''),
      source: createReadStream(new URL(`customers/${file}`, folder)),
    })
  await makeSampleCampaigns(database, {
    now: deps.campaigns.clock.now(),
    completeAfterMs: deps.campaigns.completeAfterMs,
  })
  const samples = await database.transaction(async transaction => {
    await transaction.execute('delete from sample_loading')
    const within: Within = { ...transaction, transaction: work => work(transaction) }
    return { credentials: await issueSampleCredentials(within), logins: await addSampleUsers(within) }
  })
  logger.info('sample data loaded')
  return samples
}

/** Access to the database inside one transaction, in which all sample users and credentials are made. */
type Within = Queryable & Pick<Database, 'transaction'>

/**
 * Whether the database is empty. Data of an interrupted first start does not count, because nobody has had access to
 * it.
 */
async function isEmpty(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ empty: boolean }>(
    `select exists (select from sample_loading) or not (
       exists (select from banks) or exists (select from merchants) or exists (select from mobile_operators)
       or exists (select from countries) or exists (select from payment_systems)
       or exists (select from credentials) or exists (select from portal_users)) as empty`,
  )
  return row?.empty === true
}

async function issueSampleCredentials(database: Within): Promise<SampleCredential[]> {
  const issue = async (partner: PartnerReference, role: 'ADMIN' | 'gateway') => {
    const issued = await issueCredential({ database }, { partner, role, label: 'sample' })
    return { partner: Object.values(partner).join(), ...issued }
  }
  return [
    await issue({ bank: 'alpha' }, 'ADMIN'),
    await issue({ bank: 'beta' }, 'ADMIN'),
    await issue({ merchant: 'grocer' }, 'gateway'),
    await issue({ merchant: 'voltshop' }, 'gateway'),
  ]
}

/** Makes one user for each partner, with the partner's name, and one operator. */
async function addSampleUsers(database: Within): Promise<SampleLogin[]> {
  const users: [account: SampleLogin['account'], login: string, owner: UserOwner, role: string][] = [
    ['merchant', 'grocer', { merchant: 'grocer' }, 'admin_user'],
    ['merchant', 'voltshop', { merchant: 'voltshop' }, 'admin_user'],
    ['bank', 'alpha', { bank: 'alpha' }, 'ADMIN'],
    ['bank', 'beta', { bank: 'beta' }, 'ADMIN'],
    ['platform', 'operator', 'platform', 'admin'],
  ]
  const logins: SampleLogin[] = []
  for (const [account, login, owner, role] of users) {
    const password = randomBytes(12).toString('base64url')
    await addUser({ database }, { owner, login, role, password })
    logins.push({ account, login, password })
  }
  return logins
}
