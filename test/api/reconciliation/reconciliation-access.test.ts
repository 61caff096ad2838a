/** Who may call which operation of reconciliation, and at which stage (contract/reconciliation.md, "Stages"). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { addUser } from '../../../src/access/operations.ts'
import {
  assertRefused,
  campaignDirectory,
  createCampaign,
  ids,
  inDays,
  openCampaignBank,
  openMerchant,
  type Partner,
  partnerAt,
} from '../../support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import {
  type Ended,
  endedCampaign,
  formOf,
  line,
  move,
  openSides,
  reportOf,
  runningCampaign,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
/** A campaign of alpha and beta for which all reports were uploaded. */
let campaign: Ended
let reports: { alpha: string; beta: string; merchant: string }
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  const { alpha, beta, grocer } = sides
  campaign = await endedCampaign(sides, [alpha, beta])
  reports = {
    alpha: (await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'a')))).body.reportId,
    beta: (await uploadBank(beta, campaign.id, reportOf(line(campaign, 'b')))).body.reportId,
    merchant: (await uploadMerchant(grocer, campaign.id, reportOf())).body.reportId,
  }
})
after(() => platform.close())

type Operation = { name: string; of: 'bank' | 'merchant' | 'both'; call(partner: Partner, ids: Ids): Promise<Answer> }
type Ids = { cashbackId: string; bankId: string; reportId: string }

const post = (path: (ids: Ids) => string) => (partner: Partner, given: Ids) => move(partner, path(given))
const get = (path: (ids: Ids) => string) => (partner: Partner, given: Ids) =>
  partner.call('GET', `/portal/${path(given)}`)
const upload = (path: (ids: Ids) => string) => async (partner: Partner, given: Ids) =>
  partner.call('POST', `/portal/cashbacks/${path(given)}`, await formOf({ file: reportOf() }))
const part = ({ cashbackId, bankId }: Ids) => `${cashbackId}/banks/${bankId}`

const uploadsAndMoves: Operation[] = [
  { name: 'bank-report', of: 'bank', call: upload(({ cashbackId }) => `${cashbackId}/bank-report`) },
  { name: 'merchant-report', of: 'merchant', call: upload(given => `${part(given)}/merchant-report`) },
  { name: 'accept-report', of: 'merchant', call: post(given => `${part(given)}/accept-report`) },
  { name: 'settle', of: 'merchant', call: post(given => `${part(given)}/settle`) },
  { name: 'compensation-paid', of: 'merchant', call: post(({ cashbackId }) => `${cashbackId}/compensation-paid`) },
  { name: 'compensation-received', of: 'bank', call: post(({ cashbackId }) => `${cashbackId}/compensation-received`) },
]
const reads: Operation[] = [
  { name: 'reconciliation', of: 'both', call: get(({ cashbackId }) => `cashbacks/${cashbackId}/reconciliation`) },
  { name: 'differences.csv', of: 'both', call: get(given => `cashbacks/${part(given)}/differences.csv`) },
  { name: 'file', of: 'both', call: get(({ reportId }) => `reports/${reportId}/file`) },
]
const operations = [...uploadsAndMoves, ...reads]
const right = (): Ids => ({ cashbackId: campaign.id, bankId: ids.alpha, reportId: reports.alpha })
const hasBank = ({ name }: Operation) =>
  ['merchant-report', 'accept-report', 'settle', 'differences.csv'].includes(name)

async function logIn(
  typeAccount: 'bank' | 'retailer' | 'platform',
  owner: 'platform' | { bank: string } | { merchant: string },
  role: string,
) {
  const user = { login: randomUUID(), password: 'a long password' }
  await addUser({ database: platform.platform.database }, { owner, role, ...user })
  const answer = await platform.call('POST', '/auth/login', { body: { typeAccount, ...user } })
  assert.equal(answer.status, 200, answer.text)
  return partnerAt(platform, answer.body.access_token)
}

suite('401 and 403 by the caller', () => {
  for (const operation of operations) {
    test(`${operation.name}: without a token, with a wrong one`, async () => {
      for (const token of ['', 'x.y.z']) assertRefused(await operation.call(partnerAt(platform, token), right()), 401)
    })

    test(`${operation.name}: of the wrong kind, or with a role that does not suffice`, async () => {
      const { alpha, grocer } = sides
      const banksViewer = await openCampaignBank(platform, 'alpha', 'VIEWER')
      const merchantsViewer = await logIn('retailer', { merchant: 'grocer' }, 'viewer')
      const staff = await logIn('platform', 'platform', 'admin')
      const isRead = operation.of === 'both'
      const refused = [banksViewer, staff]
      if (!isRead) refused.push(merchantsViewer, operation.of === 'bank' ? grocer : alpha)
      for (const partner of refused) assertRefused(await operation.call(partner, right()), 403)
      if (isRead) assert.equal((await operation.call(merchantsViewer, right())).status, 200)
    })
  }

  test('portal users of both sides do what their system does', async () => {
    const bank = await logIn('bank', { bank: 'alpha' }, 'EDITOR')
    const merchant = await logIn('retailer', { merchant: 'grocer' }, 'editor')
    const own = await endedCampaign(sides, [sides.alpha])
    const report = await uploadBank(bank, own.id, reportOf())
    assert.equal(report.status, 201, report.text)
    assert.equal((await move(merchant, `${own.id}/banks/${ids.alpha}/accept-report`)).status, 200)
  })
})

suite('400: ids that are none', () => {
  for (const operation of operations)
    test(operation.name, async () => {
      const partner = operation.of === 'bank' ? sides.alpha : sides.grocer
      const wrong = operation.name === 'file' ? { reportId: 'x' } : { cashbackId: 'x' }
      assertRefused(await operation.call(partner, { ...right(), ...wrong }), 400, [
        `${Object.keys(wrong)[0]} must be a UUID`,
      ])
      if (hasBank(operation))
        assertRefused(await operation.call(partner, { ...right(), bankId: 'x' }), 400, ['bankId must be a UUID'])
    })
  test('unknown query parameters, and bodies of moves', async () => {
    const { grocer, alpha } = sides
    const path = `/portal/cashbacks/${campaign.id}`
    assertRefused(await grocer.call('GET', `${path}/reconciliation?a=1`), 400, ['a must be omitted'])
    assertRefused(await grocer.call('POST', `${path}/compensation-paid`, { body: { a: 1 } }), 400, [
      'a must be omitted',
    ])
    assertRefused(await alpha.call('POST', `${path}/bank-report?a=1`, await formOf({ file: '' })), 400, [
      'a must be omitted',
    ])
  })
})

suite('404 and 403: what is not there, and whose it is', () => {
  for (const operation of operations)
    test(operation.name, async () => {
      const { alpha, beta, grocer } = sides
      const unknown = operation.name === 'file' ? { reportId: randomUUID() } : { cashbackId: randomUUID() }
      const callers = operation.of === 'bank' ? [alpha] : operation.of === 'merchant' ? [grocer] : [alpha, grocer]
      for (const caller of callers) assertRefused(await operation.call(caller, { ...right(), ...unknown }), 404)
      if (operation.of !== 'bank') {
        const voltshop = await openMerchant(platform, 'voltshop')
        assertRefused(await operation.call(voltshop, right()), 403, 'The campaign belongs to another merchant')
      }
      if (operation.of !== 'merchant') {
        const gamma = await openCampaignBank(platform, 'gamma')
        assertRefused(await operation.call(gamma, { ...right(), bankId: ids.gamma }), 404)
      }
      if (hasBank(operation)) assertRefused(await operation.call(grocer, { ...right(), bankId: ids.gamma }), 404)
      if (operation.name === 'file') {
        assertRefused(await operation.call(beta, right()), 404, 'The report was not found')
        assertRefused(
          await operation.call(beta, { ...right(), reportId: reports.merchant }),
          404,
          'The report was not found',
        )
        assert.equal((await operation.call(alpha, { ...right(), reportId: reports.merchant })).status, 200)
      }
      if (operation.name === 'differences.csv') assertRefused(await operation.call(beta, right()), 404)
    })

  test('the form comes before both (contract/http.md, "Order of checks")', async () => {
    const { alpha, grocer } = sides
    const voltshop = await openMerchant(platform, 'voltshop')
    const gamma = await openCampaignBank(platform, 'gamma')
    const merchantReport = (id: string) => ['POST', `${id}/banks/${ids.alpha}/merchant-report`] as const
    const bankReport = (id: string) => ['POST', `${id}/bank-report`] as const
    const segment = (id: string) => ['PUT', `${id}/segment`] as const
    for (const [partner, [method, path]] of [
      [grocer, merchantReport(randomUUID())],
      [voltshop, merchantReport(campaign.id)],
      [alpha, bankReport(randomUUID())],
      [gamma, bankReport(campaign.id)],
      [grocer, segment(randomUUID())],
      [voltshop, segment(campaign.id)],
    ] as const) {
      const form = await formOf({ field: 'upload' })
      assertRefused(await partner.call(method, `/portal/cashbacks/${path}`, form), 400, [
        'upload must be omitted',
        'file must be given',
      ])
    }
  })

  test('ids in upper case name the same', async () => {
    const { grocer } = sides
    const upper = {
      cashbackId: campaign.id.toUpperCase(),
      bankId: ids.beta.toUpperCase(),
      reportId: reports.beta.toUpperCase(),
    }
    for (const read of reads) {
      const answer = await read.call(grocer, upper)
      assert.equal(answer.status, 200, read.name)
      if (answer.body?.cashbackId) assert.equal(answer.body.cashbackId, campaign.id, read.name)
    }
    assert.equal((await move(grocer, `${upper.cashbackId}/banks/${upper.bankId}/accept-report`)).status, 200)
  })

  test('a bank sees its own part and nothing of another', async () => {
    const { alpha, grocer } = sides
    const path = `/portal/cashbacks/${campaign.id}/reconciliation`
    const own = await alpha.call('GET', path)
    assert.deepEqual(
      own.body.banks.map(({ id }: { id: string }) => id),
      [ids.alpha],
    )
    for (const secret of [ids.beta, reports.beta, 'Бета']) assert.ok(!own.text.includes(secret), secret)
    const all = await grocer.call('GET', path)
    assert.deepEqual(Object.keys(all.body), ['cashbackId', 'status', 'banks'])
    assert.deepEqual(
      all.body.banks.map(({ name }: { name: string }) => name),
      ['Alpha Bank', 'Бета Банк'],
    )
  })
})

/**
 * Each stage with the operations that it permits. `again` are operations that were done before and now change nothing.
 */
type Stage = { name: string; next: string; also?: string; again: string[] }
const stages: Stage[] = [
  { name: 'the bank’s report is awaited', next: 'bank-report', again: [] },
  { name: 'the merchant’s answer is awaited', next: 'merchant-report', also: 'accept-report', again: [] },
  { name: 'an updated report is awaited', next: 'bank-report', again: [] },
  { name: 'the merchant’s answer is awaited again', next: 'accept-report', also: 'merchant-report', again: [] },
  { name: 'reconciliation is complete', next: 'settle', again: ['accept-report'] },
  { name: 'payment is awaited', next: 'compensation-paid', again: ['accept-report', 'settle'] },
  {
    name: 'the receipt is awaited',
    next: 'compensation-received',
    again: ['accept-report', 'settle', 'compensation-paid'],
  },
  { name: 'received', next: '', again: ['accept-report', 'settle', 'compensation-paid', 'compensation-received'] },
  { name: 'completed', next: '', again: ['accept-report', 'settle', 'compensation-paid', 'compensation-received'] },
]

const callerOf = ({ of }: Operation) => (of === 'bank' ? sides.alpha : sides.grocer)
const operationOf = (name: string) => {
  const operation = uploadsAndMoves.find(one => one.name === name)
  assert.ok(operation, name)
  return operation
}

test('each operation in each stage: the next one is done, earlier moves are answered again, all others are 400', async () => {
  const { id } = await endedCampaign(sides, [sides.alpha])
  const given = { ...right(), cashbackId: id }
  for (const { name, next, also, again } of stages) {
    if (name === 'completed')
      assert.equal((await platform.call('POST', '/sandbox/clock', { body: { advance: 'P31D' } })).status, 200)
    for (const operation of uploadsAndMoves) {
      if (operation.name === next || operation.name === also) continue
      const answer = await operation.call(callerOf(operation), given)
      if (again.includes(operation.name)) assert.equal(answer.status, 200, `${name}: ${operation.name}: ${answer.text}`)
      else assertRefused(answer, 400)
    }
    if (next === '') continue
    const answer = await operationOf(next).call(callerOf(operationOf(next)), given)
    assert.ok(answer.status === 200 || answer.status === 201, `${name}: ${next}: ${answer.text}`)
  }
})

suite('400: every operation outside of reconciliation', () => {
  const far = () => ({ dateFrom: inDays(platform, 10), dateTo: inDays(platform, 40) })
  const campaigns: Record<string, () => Promise<string>> = {
    'awaits banks': () => createCampaign(platform, far(), sides.grocer),
    'awaits the merchant': async () => {
      const id = await createCampaign(platform, far(), sides.grocer)
      assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
      return id
    },
    active: async () => (await runningCampaign(sides, [sides.alpha])).id,
    deleted: async () => {
      const id = await createCampaign(platform, far(), sides.grocer)
      assert.equal((await sides.grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
      return id
    },
    expired: async () => {
      const id = await createCampaign(
        platform,
        { dateFrom: inDays(platform, 0), dateTo: inDays(platform, 1) },
        sides.grocer,
      )
      assert.equal((await platform.call('POST', '/sandbox/clock', { body: { advance: 'P1D' } })).status, 200)
      return id
    },
  }
  for (const [state, make] of Object.entries(campaigns))
    test(state, async () => {
      const given = { ...right(), cashbackId: await make() }
      for (const operation of uploadsAndMoves) assertRefused(await operation.call(callerOf(operation), given), 400)
      const read = await sides.grocer.call('GET', `/portal/cashbacks/${given.cashbackId}/reconciliation`)
      assert.deepEqual(
        [read.body.banks[0].bankReportingStatus, read.body.banks[0].reports, read.body.banks[0].expectedCompensation],
        [null, [], null],
      )
    })
})
