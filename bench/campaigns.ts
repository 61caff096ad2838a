/** A platform with a merchant, banks and a campaign that all banks take part in, for cases that need them. */
import { randomBytes } from 'node:crypto'
import { type Database, openDatabase } from '../src/db/database.ts'
import type { Bench } from './bench.ts'
import { type PlatformProcess, startPlatform } from './platform.ts'

export const banksCount = 5

type Answer = { status: number; text: string; body: any }

export type CampaignPlatform = PlatformProcess & {
  database: Database
  operatorKey: string
  merchantToken: string
  bankTokens: string[]
  bankIds: string[]
  /** Sends a request of a partner or of the operator. An answer that is not a success ends the benchmark. */
  call(method: string, path: string, token: string, body?: unknown): Promise<Answer>
}

const bankCode = (index: number): string => `bank-${index + 1}`

const directoryOf = (banks: number) => `
countries:
  - { code: UA, name: Ukraine, currency: { code: UAH, name: Hryvnia, symbol: ₴, icon: "" } }
paymentSystems:
  - { id: 11111111-aaaa-4aaa-8aaa-111111111111, code: visa, name: Visa }
banks:
${Array.from({ length: banks }, (_, index) => `  - { code: ${bankCode(index)}, name: Bank ${index + 1}, logoUrl: "", apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }`).join('\n')}
merchants:
  - { code: grocer, name: Гросер, terminals: [{ terminalId: T-1 }] }
`

/**
 * Starts a platform on an empty database with this name.
 *
 * @param settings further environment variables
 * @param count the number of banks
 */
export async function serveCampaigns(
  bench: Bench,
  name: string,
  settings: Record<string, string> = {},
  count = banksCount,
): Promise<CampaignPlatform> {
  await bench.server.create(name)
  const operatorKey = randomBytes(32).toString('hex')
  const platform = await startPlatform({
    DATABASE_URL: bench.server.url(name),
    DATA_DIR: bench.folder,
    MASTER_KEY: randomBytes(32).toString('base64'),
    OPERATOR_KEY: operatorKey,
    ...settings,
  })
  const call: CampaignPlatform['call'] = async (method, path, token, body) => {
    const answer = await fetch(platform.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text.slice(0, 500)}`)
    return { status: answer.status, text, body: JSON.parse(text) }
  }
  const tokenOf = async (partner: object): Promise<string> => {
    const { body: issued } = await call('POST', '/admin/credentials', operatorKey, partner)
    return (await call('POST', '/getToken/auth', operatorKey, issued)).body.access_token
  }
  const database = openDatabase({ connection: { connectionString: bench.server.url(name) }, poolSize: 2 })
  try {
    await call('POST', '/admin/directory', operatorKey, { directory: directoryOf(count), files: {} })
    const banks = await database.query<{ id: string }>('select bank_id as id from banks order by code')
    const bankTokens: string[] = []
    for (let index = 0; index < count; index++) bankTokens.push(await tokenOf({ bank: bankCode(index), role: 'ADMIN' }))
    return {
      ...platform,
      database,
      operatorKey,
      merchantToken: await tokenOf({ merchant: 'grocer' }),
      bankTokens,
      bankIds: banks.map(({ id }) => id),
      call,
      async stop() {
        await database.close()
        await platform.stop()
      },
    }
  } catch (error) {
    await database.close()
    await platform.stop()
    throw error
  }
}

/** The form of a campaign that invites all banks. */
export const campaignForm = ({ bankIds }: CampaignPlatform, period: { dateFrom: Date; dateTo: Date }) => ({
  ...period,
  participantsIds: bankIds,
  name: 'Осінь',
  minAmount: 100,
  maxAmount: 5000,
  percentage: 5,
  countryCode: 'UA',
  terminalsPlatform: true,
  paymentSystemsId: ['11111111-aaaa-4aaa-8aaa-111111111111'],
  merchantCompensationPercentage: 60,
})

/**
 * Makes a campaign that invites all banks.
 * @returns its id
 */
export async function createCampaign(
  platform: CampaignPlatform,
  period: { dateFrom: Date; dateTo: Date },
): Promise<string> {
  const form = campaignForm(platform, period)
  return (await platform.call('POST', '/cashbacks/for-merchant', platform.merchantToken, form)).body.id
}

/**
 * Makes a campaign that all banks have approved and the merchant has launched.
 * @returns its id
 */
export async function launchCampaign(
  platform: CampaignPlatform,
  period: { dateFrom: Date; dateTo: Date },
): Promise<string> {
  const id = await createCampaign(platform, period)
  for (const token of platform.bankTokens) await platform.call('POST', `/cashbacks/${id}/confirm`, token)
  await platform.call('POST', `/cashbacks/for-merchant/${id}/confirm`, platform.merchantToken)
  return id
}

/**
 * Returns the columns that a copy of a table's row must set. The database generates the others.
 *
 * @param row the alias of the row to copy from
 */
export async function columnsOf(database: Database, table: string, row?: string): Promise<string> {
  const [found] = await database.query<{ columns: string }>(
    `select string_agg(concat($2::text || '.', attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table, row ?? null],
  )
  return found?.columns ?? ''
}
