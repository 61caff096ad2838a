/** Edge cases of events: their size, changes of terminals alone, banks that gain or lose an operator. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordOverlapsEnding } from '../../../src/access/credential-store.ts'
import { campaignDirectory, createCampaign, ids, openMerchant, type Partner } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { addCustomers, customers, fileOf, putSegment } from '../../support/segments.ts'

type Told = { id: string; type: string; sequence: number; data: Record<string, unknown> }
let platform: TestPlatform
let grocer: Partner
const many = 60
const bankIds = Array.from({ length: many }, (_, n) => `b0000000-0000-4000-8000-${String(n).padStart(12, '0')}`)

before(async () => {
  const banks = bankIds.map(
    (id, n) =>
      `  - { id: ${id}, code: bank-${n}, name: Bank ${n}, logoUrl: "", apiVersion: "1.0", esim: { deliveryMode: local, operators: [] } }`,
  )
  platform = await startPlatform(
    {},
    { directory: campaignDirectory.replace('banks:\n', `banks:\n${banks.join('\n')}\n`) },
  )
  grocer = await openMerchant(platform)
})
after(() => platform?.close())

async function toldTo(token: string, type: string): Promise<Told[]> {
  const { body } = await platform.call('GET', `/partner/v1/events?limit=1000&type=${type}`, { token })
  const { body: end } = await platform.call('GET', '/partner/v1/events?after=now', { token })
  assert.ok(body.nextAfter <= end.nextAfter)
  return body.data
}
async function newest(token: string): Promise<number> {
  return (await platform.call('GET', '/partner/v1/events?after=now', { token })).body.nextAfter
}

test('a segment of many banks is told to the merchant in events of at most 4 KiB, each with its sum', async () => {
  for (const n of [0, 59]) await addCustomers(platform, `bank-${n}`, customers(`C${n}`, 34))
  const cashbackId = await createCampaign(platform, { participantsIds: bankIds }, grocer)
  const lines = [...customers('C0', 34), ...customers('C59', 20)]
  const formed = await putSegment(grocer, cashbackId, fileOf(lines))
  assert.equal(formed.status, 200, formed.text)
  await newest(grocer.token)
  const told = await toldTo(grocer.token, 'segment.formed')
  const parts = told.map(
    ({ data }) => data as { customersCount: number; banks: { bankId: string; customersCount: number }[] },
  )
  for (const { customersCount, banks, ...campaign } of parts) {
    assert.ok(Buffer.byteLength(JSON.stringify({ ...campaign, customersCount, banks })) <= 4_096)
    assert.equal(
      customersCount,
      banks.reduce((sum, bank) => sum + bank.customersCount, 0),
    )
  }
  const all = parts.flatMap(({ banks }) => banks)
  assert.deepEqual(all.map(({ bankId }) => bankId).sort(), bankIds)
  assert.equal(
    all.reduce((sum, bank) => sum + bank.customersCount, 0),
    50,
  )
  assert.equal(new Set(parts.map(part => (part as unknown as { updatedAt: string }).updatedAt)).size, 1)
})

test('an edit that only adds terminals is told to the banks, too', async () => {
  const [bankId = ''] = bankIds
  const bank = await platform.bankToken('bank-0')
  const terminals = (...names: string[]) => names.map(terminal_id => ({ terminal_id }))
  const own = { terminalsPlatform: false, terminals: terminals('1') }
  const cashbackId = await createCampaign(platform, { participantsIds: [bankId], ...own }, grocer)
  for (const token of [bank, grocer.token]) await newest(token)
  const edited = await grocer.call('PATCH', `/cashbacks/for-merchant/${cashbackId}`, {
    body: { terminals: terminals('1', '2', '3') },
  })
  assert.equal(edited.status, 200, edited.text)
  for (const token of [bank, grocer.token]) {
    await newest(token)
    const [told] = (await toldTo(token, 'campaign.updated')).filter(({ data }) => data.cashbackId === cashbackId)
    assert.deepEqual([told?.data.changedFields, told?.data.terminalsAdded], [['terminals'], 2])
  }
})

test('a change of a terminal that stays is told to the merchant and its banks', async () => {
  const bank = await platform.bankToken('bank-0')
  await createCampaign(platform, { participantsIds: bankIds.slice(0, 1) }, grocer)
  const apply = async (shop: string) => {
    await platform.applyDirectory(
      `merchants: [{ code: grocer, name: Гросер, terminals: [{ terminalId: T-1, name: ${shop} }] }]`,
    )
    for (const token of [bank, grocer.token]) await newest(token)
  }
  await apply('Shop 1')
  const known = (await toldTo(bank, 'merchant.terminals_changed')).length
  await apply('Market')
  for (const token of [bank, grocer.token]) {
    const { data } = (await toldTo(token, 'merchant.terminals_changed')).at(-1) ?? {}
    assert.deepEqual(data, { retailerId: ids.grocer, added: 0, removed: 0, total: 1 })
  }
  await apply('Market')
  assert.equal((await toldTo(bank, 'merchant.terminals_changed')).length, known + 1, 'nothing has changed')
})

const operators = (of: string) => `
banks:
  - { code: bank-1, name: Bank 1, logoUrl: "", apiVersion: "1.0", esim: { deliveryMode: local, operators: ${of} } }
`
const sold = `
esim:
  operators:
    - { code: kyivstar, nameUk: Київстар, country: UA, tariffs: [{ code: one, name: One, price: 1, currency: UAH, validityDays: 1 }, { code: two, name: Two, price: 1, currency: UAH, validityDays: 1 }] }
    - { code: roamwide, nameUk: Роамвайд, country: UA, tariffs: [{ code: one, name: One, price: 1, currency: UAH, validityDays: 1 }] }
`

test('a bank that gains or loses a mobile operator is told so, once for each apply, and no other bank', async () => {
  const [one, two] = [await platform.bankToken('bank-1'), await platform.bankToken('bank-2')]
  await platform.applyDirectory(sold)
  const toOne = async () => {
    for (const token of [one, two]) await newest(token)
    return (await toldTo(one, 'catalogue.changed')).map(({ data }) => data)
  }
  assert.deepEqual(await toOne(), [])
  await platform.applyDirectory(operators('[kyivstar]'))
  const gained = {
    operatorCodes: ['kyivstar'],
    tariffs: [
      { operatorCode: 'kyivstar', tariffCode: 'one' },
      { operatorCode: 'kyivstar', tariffCode: 'two' },
    ],
    truncated: false,
  }
  assert.deepEqual(await toOne(), [gained])
  await platform.applyDirectory(operators('[kyivstar]'))
  assert.deepEqual(await toOne(), [gained], 'nothing has changed')
  await platform.applyDirectory(operators('[roamwide]'))
  const turned = {
    operatorCodes: ['roamwide', 'kyivstar'],
    tariffs: [{ operatorCode: 'roamwide', tariffCode: 'one' }],
    truncated: false,
  }
  assert.deepEqual(await toOne(), [gained, turned])
  assert.deepEqual(await toldTo(two, 'catalogue.changed'), [])
})

test('no bank gets an event about a mobile operator that is not listed', async () => {
  const one = await platform.bankToken('bank-1')
  await platform.applyDirectory(operators('all'))
  const told = async (status: string, price: number) => {
    const directory = `esim: { operators: [{ code: newcomer, nameUk: Новий, country: UA, status: ${status}, tariffs: [
      { code: first, name: First, price: ${price}, currency: UAH, validityDays: 1 }] }] }`
    const { operatorKey: token } = platform.config
    const answer = await platform.call('POST', '/admin/directory', { token, body: { directory } })
    assert.equal(answer.status, 200, answer.text)
    await newest(one)
    const events = await toldTo(one, 'catalogue.changed')
    return events.map(({ data }) => data).filter(data => JSON.stringify(data).includes('newcomer'))
  }
  assert.deepEqual(await told('suspended', 1), [])
  assert.deepEqual(await told('withdrawn', 2), [])
  const tariffs = [{ operatorCode: 'newcomer', tariffCode: 'first' }]
  const listed = { operatorCodes: ['newcomer'], tariffs, truncated: false }
  assert.deepEqual(await told('active', 2), [listed], 'it is listed, and its tariffs with it')
  const repriced = { ...listed, operatorCodes: [] }
  assert.deepEqual(await told('active', 3), [listed, repriced])
  const ended = { ...listed, tariffs: [] }
  assert.deepEqual(await told('suspended', 3), [listed, repriced, ended], 'it is no longer listed')
  assert.deepEqual(await told('withdrawn', 3), [listed, repriced, ended])
})

test('the end of an overlap is told once, with the time of the rule, also when no job ran then', async () => {
  const operator = async (path: string, body: object) => {
    const token = platform.config.operatorKey
    const answer = await platform.call('POST', `/admin/credentials${path}`, { token, body })
    assert.ok(answer.status < 300, answer.text)
    return answer
  }
  const { database } = platform.platform
  const { clientId } = (await operator('', { merchant: 'grocer', label: 'overlap' })).body
  await operator(`/${clientId}/rotate`, { overlap: 'PT24H' })
  // Moves the rotation nine days into the past, as if no worker had run since then.
  await database.execute(
    `update credentials set previous_valid_until = previous_valid_until - interval '9 days',
       previous_replaced_at = previous_replaced_at - interval '9 days' where client_id = $1`,
    [clientId],
  )
  await database.execute(
    `update event_positions set reached = now() - interval '9 days' where name = 'credential.overlap_ending'`,
  )
  await recordOverlapsEnding(database)
  await recordOverlapsEnding(database)
  await newest(grocer.token)
  const told = (await toldTo(grocer.token, 'credential.overlap_ending')).filter(
    ({ data }) => data.clientId === clientId,
  )
  assert.equal(told.length, 1)
  const [{ timestamp, data }] = told as [Told & { timestamp: string }]
  assert.equal(Date.parse(String(data.previousValidUntil)) - Date.parse(timestamp), 3_600_000)
})
