import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { campaignStatuses } from '../../../src/campaigns/lifecycle/transitions.ts'
import { services } from '../../../src/config.ts'
import { createLogger } from '../../../src/log.ts'
import { loadSamples, type SampleCredential, type SampleLogin } from '../../../src/sandbox/samples.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

/**
 * The services that run while samples are loaded in a first start. Jobs begin only afterwards, because they would
 * change the samples.
 */
const withoutJobs = services.filter(service => service !== 'worker')

let platform: TestPlatform
let credentials: SampleCredential[]
let logins: SampleLogin[]
before(async () => {
  platform = await startPlatform({}, { directory: null, only: withoutJobs })
  const samples = await loadSamples(platform.platform, createLogger('silent'))
  credentials = samples?.credentials ?? []
  logins = samples?.logins ?? []
})
after(() => platform.close())

async function tokenOf(name: string): Promise<string> {
  const found = credentials.find(({ partner }) => partner === name)
  assert.ok(found, name)
  const { clientId, secret } = found
  const { body } = await platform.call('POST', '/getToken/auth', { body: { clientId, secret } })
  return body.access_token
}

test('there is a sample campaign in every status', async () => {
  const statuses = new Set<string>()
  for (const merchant of ['grocer', 'voltshop'])
    for (const query of ['', '&status=deleted', '&generalStatus=closed']) {
      const path = `/cashbacks/for-merchant?pageSize=100${query}`
      const { status, body } = await platform.call('GET', path, { token: await tokenOf(merchant) })
      assert.equal(status, 200)
      for (const campaign of body.data) statuses.add(campaign.status)
    }
  assert.deepEqual([...statuses].sort(), [...campaignStatuses].sort())
})

test('their books are right, and their history ends where they are', async () => {
  const { body } = await platform.call('GET', '/admin/audit', { token: platform.config.operatorKey })
  assert.deepEqual(
    body.checks.filter(({ ok }: { ok: boolean }) => !ok),
    [],
  )
})

test('a bank finds an invitation to decide and a report to upload', async () => {
  const token = await tokenOf('alpha')
  const invitations = await platform.call('GET', '/cashbacks/for-bank?bankApprovalStatus=pending', { token })
  assert.ok(invitations.body.length > 0)
  const finished = await platform.call('GET', '/cashbacks/for-bank?status=finished', { token })
  assert.ok(
    finished.body.some((campaign: any) => campaign.banks[0].bankReportingStatus === 'awaitingBankReconciliation'),
  )
})

test('samples are loaded once only', async () => {
  assert.equal(await loadSamples(platform.platform, createLogger('silent')), null)
})

test('two processes that start at once on an empty database load them once', async () => {
  const first = await startPlatform({}, { directory: null, only: withoutJobs })
  const second = await first.sibling()
  try {
    const loaded = await Promise.all(
      [first, second].map(({ platform }) => loadSamples(platform, createLogger('silent'))),
    )
    assert.equal(loaded.filter(samples => samples !== null).length, 1)
    assert.equal(await countCampaigns(first), await countCampaigns(platform))
  } finally {
    await second.close()
    await first.close()
  }
})

test('samples that an interrupted first start has left are made again', async () => {
  const cutOff = await startPlatform({}, { directory: null, only: withoutJobs })
  try {
    const { database } = cutOff.platform
    await loadSamples(cutOff.platform, createLogger('silent'))
    // The loading creates credentials last, so this looks like a start that was interrupted just before its end.
    await database.execute('truncate credentials, portal_users cascade')
    await database.execute('insert into sample_loading default values')
    await database.execute(`update campaigns set name = 'left over'`)
    assert.equal((await loadSamples(cutOff.platform, createLogger('silent')))?.credentials.length, 4)
    assert.equal(await countCampaigns(cutOff), await countCampaigns(platform))
  } finally {
    await cutOff.close()
  }
})

for (const [what, directory] of [
  ['that has codes of the samples', 'banks: [{ code: alpha, name: Mine }]'],
  ['without a bank', 'countries: [{ code: UA, name: Mine, currency: { code: UAH, name: H, symbol: H } }]'],
] as const)
  test(`a directory of the operator’s own ${what} is left alone`, async () => {
    const own = await startPlatform({}, { directory })
    try {
      assert.equal(await loadSamples(own.platform, createLogger('silent')), null)
      const names = await own.platform.database.query('select name from banks union all select name from countries')
      assert.deepEqual(names, [{ name: 'Mine' }])
    } finally {
      await own.close()
    }
  })

async function countCampaigns({ platform: { database } }: TestPlatform): Promise<number> {
  const [row] = await database.query<{ count: number }>('select count(*)::int as count from campaigns')
  return row?.count ?? 0
}

async function assertPeriodsOfKyiv({ platform: { database } }: TestPlatform): Promise<void> {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Kyiv', timeStyle: 'medium' })
  const periods = await database.query<{ from: Date; to: Date }>(
    'select date_from as "from", date_to as "to" from campaigns',
  )
  assert.ok(periods.length > 10)
  for (const { from, to } of periods) assert.deepEqual([clock.format(from), clock.format(to)], ['00:00:00', '00:00:00'])
  const [outside] = await database.query<{ count: number }>(
    `select count(*)::int as count from report_lines
     join reports using (report_id) join campaigns using (cashback_id) where transaction_at < date_from or transaction_at >= date_to`,
  )
  assert.equal(outside?.count, 0)
}

test('their periods begin and end at midnight in Kyiv, and every purchase of a report lies within', () =>
  assertPeriodsOfKyiv(platform))

for (const [when, now] of [
  ['30 days after clocks were set back', '2026-11-24T01:30:00Z'],
  ['30 days after clocks were set forward', '2026-04-28T02:30:00Z'],
  ['after midnight in Kyiv and before it in UTC', '2026-11-23T22:30:00Z'],
] as const)
  test(`the same holds for samples made ${when}`, async () => {
    const empty = await startPlatform({}, { directory: null, only: withoutJobs })
    try {
      const { deps } = empty.platform
      const clock = { now: () => new Date(now), offsetMs: () => 0, setOffsetMs() {} }
      const then = { ...deps, campaigns: { ...deps.campaigns, clock } }
      await loadSamples({ ...empty.platform, deps: then }, createLogger('silent'))
      await assertPeriodsOfKyiv(empty)
    } finally {
      await empty.close()
    }
  })

test('one person of each partner, and one of the staff, log in to the portal as the first start prints', async () => {
  assert.deepEqual(
    logins.map(({ account, login }) => `${account} ${login}`),
    ['merchant grocer', 'merchant voltshop', 'bank alpha', 'bank beta', 'platform operator'],
  )
  for (const { account, login, password } of logins) {
    const body = { typeAccount: account === 'merchant' ? 'retailer' : account, login, password }
    const answer = await platform.call('POST', '/portal/session', { body })
    assert.equal(answer.status, 200, login)
  }
})
