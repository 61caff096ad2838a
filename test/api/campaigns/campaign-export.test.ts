/** A partner's campaigns as a CSV file: its content, filters, and files of any length. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { readTerminals } from '../../../src/campaigns/for-people/terminal-store.ts'
import {
  assertRefused,
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  inDays,
  openCampaignBank,
  openMerchant,
  openUser,
  type Partner,
} from '../../support/campaigns.ts'
import { range } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let grocer: Partner
let volt: Partner
let alpha: Partner
let beta: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
  volt = await openMerchant(platform, 'voltshop')
  alpha = await openCampaignBank(platform)
  beta = await openCampaignBank(platform, 'beta')
})
after(() => platform.close())

const rows = async (partner: Partner, query = ''): Promise<Record<string, string>[]> => {
  const { status, text } = await partner.call('GET', `/portal/cashbacks.csv${query}`)
  assert.equal(status, 200, text)
  // Without the mark, Excel reads Ukrainian letters as others.
  assert.ok(text.startsWith('\ufeff"cashbackId"'), text.slice(0, 20))
  return parse(text, { columns: true, bom: true })
}
const namesOf = async (partner: Partner, query = '') => (await rows(partner, query)).map(({ name }) => name)

test('each side’s own columns, and nothing that a spreadsheet would carry out', async () => {
  const name = '=cmd|"x"'
  const id = await createCampaign(platform, { name, maxBudget: 1000, participantsIds: [ids.alpha, ids.beta] }, grocer)
  assert.equal((await alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  const answer = await grocer.call('GET', '/portal/cashbacks.csv')
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="campaigns\.csv"/)
  const [merchants] = await rows(grocer)
  assert.deepEqual(
    [merchants?.cashbackId, merchants?.name, merchants?.status, merchants?.banksInvited, merchants?.banksApproved],
    [id, `'${name}`, 'awaitingBankApproval', '2', '1'],
  )
  assert.deepEqual(
    [
      merchants?.maxBudget,
      merchants?.minAmount,
      merchants?.currency,
      merchants?.percentage,
      merchants?.expectedCompensation,
    ],
    ['1000.00', '100.00', 'UAH', '5', ''],
  )
  assert.equal(merchants?.bankStatus, undefined)
  const [banks] = await rows(alpha)
  assert.deepEqual(
    [banks?.retailerName, banks?.bankStatus, banks?.bankReportingStatus, banks?.settlementConfirmed],
    ['Гросер', 'approved', '', 'false'],
  )
  assert.equal(banks?.banksInvited, undefined)
})

test('the filters of the lists; deleted campaigns only when they are asked for', async () => {
  const winter = await createCampaign(platform, { name: 'Winter', participantsIds: [ids.beta] }, grocer)
  await createBankCampaign(platform, beta, { name: 'Own winter', dateTo: inDays(platform, 90) })
  const gone = await createCampaign(platform, { name: 'Gone winter', participantsIds: [ids.beta] }, grocer)
  assert.equal((await grocer.call('DELETE', `/cashbacks/for-merchant/${gone}`)).status, 200)
  assert.deepEqual(await namesOf(grocer, '?name=winter'), ['Own winter', 'Winter'])
  assert.deepEqual(await namesOf(beta, '?name=winter&createdByType=bank'), ['Own winter'])
  assert.deepEqual(await namesOf(beta, '?name=winter&status=deleted'), ['Gone winter'])
  assert.deepEqual(await namesOf(grocer, '?name=winter&status=deleted&status=awaitingBankApproval'), [
    'Gone winter',
    'Own winter',
    'Winter',
  ])
  assert.deepEqual(await namesOf(grocer, `?name=winter&dateTo=${inDays(platform, 60)}`), ['Winter'])
  assert.equal((await beta.call('POST', `/cashbacks/${winter}/reject`)).status, 201)
  assert.deepEqual(await namesOf(beta, '?name=winter&bankStatus=declined'), ['Winter'])
})

test('a file of many pieces has each campaign once, the newest first', async () => {
  const one = await createCampaign(platform, { name: 'Many', participantsIds: [ids.alpha] }, volt)
  const { database } = platform.platform
  const columns = await database.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_name = 'campaigns' and is_generated = 'NEVER' and column_name not in ('cashback_id', 'created_at')`,
    [],
  )
  const names = columns.map(({ name }) => name).join(', ')
  // Three campaigns share each instant, and the instants differ by a microsecond, so that some pieces end between
  // campaigns with equal instants.
  await database.query(
    `with made as (
       insert into campaigns (cashback_id, created_at, ${names})
       select gen_random_uuid(), created_at - (n / 3) * interval '1 microsecond', ${names} from campaigns, generate_series(1, 1600) n
       where cashback_id = $1 returning cashback_id, created_at, status, date_to)
     insert into campaign_banks (cashback_id, bank_id, status, created_at, campaign_status, date_to)
     select cashback_id, $2, 'pending', created_at, status, date_to from made`,
    [one, ids.alpha],
  )
  for (const partner of [volt, alpha]) {
    const found = await rows(partner, '?name=many')
    assert.equal(found.length, 1601)
    assert.equal(new Set(found.map(({ cashbackId }) => cashbackId)).size, 1601)
    const created = found.map(({ createdAt }) => createdAt ?? '')
    assert.deepEqual(created, created.toSorted().reverse())
  }
})

test('who may not, and what is no filter', async () => {
  assertRefused(await platform.call('GET', '/portal/cashbacks.csv'), 401)
  assertRefused(await (await openCampaignBank(platform, 'alpha', 'VIEWER')).call('GET', '/portal/cashbacks.csv'), 403)
  assertRefused(await (await openUser(platform, 'platform', 'admin')).call('GET', '/portal/cashbacks.csv'), 403)
  assert.equal(
    (await (await openUser(platform, { merchant: 'grocer' }, 'viewer')).call('GET', '/portal/cashbacks.csv')).status,
    200,
  )
  assertRefused(await grocer.call('GET', '/portal/cashbacks.csv?bankStatus=pending'), 400)
  assertRefused(await grocer.call('GET', '/portal/cashbacks.csv?dateFrom=yesterday'), 400)
  assertRefused(await grocer.call('GET', '/portal/cashbacks.csv?page=2'), 400)
})

test('terminals that are edited while they are read break the file off, so that none is missing unnoticed', async () => {
  const terminals = range(6_000).map(index => ({ terminal_id: `T-${index}` }))
  const id = await createCampaign(platform, { terminalsPlatform: false, terminals }, grocer)
  const read = async (meanwhile: () => Promise<unknown> = async () => {}) => {
    const found: string[] = []
    for await (const page of readTerminals(platform.platform.database, id, { pattern: null, since: null })) {
      if (found.length === 0) await meanwhile()
      found.push(...page.map(({ terminal_id }) => terminal_id))
    }
    return found
  }
  const order = terminals.map(({ terminal_id }) => terminal_id)
  assert.deepEqual(await read(), order)
  const reject = () => alpha.call('POST', `/cashbacks/${id}/reject`)
  assert.deepEqual(await read(reject), order, 'a decision of a bank does not matter')
  const other = [...terminals.toReversed(), { terminal_id: 'new' }]
  const edit = async () => {
    const edited = await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body: { terminals: other } })
    assert.equal(edited.status, 200, edited.text)
  }
  await assert.rejects(read(edit), /was edited/)
  assert.equal((await read()).length, 6_001)
})
