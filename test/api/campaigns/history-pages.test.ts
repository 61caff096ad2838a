/** The pages of a long history, and what reading them costs (contract/campaigns.md, "History"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findDecisions, findHistoryPage } from '../../../src/campaigns/history/store.ts'
import type { Queryable } from '../../../src/db/database.ts'
import {
  assertRefused,
  campaignDirectory,
  createCampaign,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
  partnerAt,
} from '../../support/campaigns.ts'
import { range } from '../../support/esim.ts'
import { explaining } from '../../support/explain.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let grocer: Partner
let alpha: Partner
let beta: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
  alpha = await openCampaignBank(platform)
  beta = await openCampaignBank(platform, 'beta')
})
after(() => platform.close())

const historyOf = (partner: Partner, id: string) => partner.call('GET', pathOf(id))
const stepOf = ({ subject, bankId, trigger, from, to }: Record<string, string | null>) =>
  [subject, bankId, trigger, from, to].join(' ')
const pathOf = (id: string) => `/portal/cashbacks/${id}/history`
const nextOf = ({ headers }: Answer): string | null => headers.get('link')?.match(/^<(.*)>; rel="next"$/)?.[1] ?? null
const cursorOf = (answer: Answer): string => new URL(nextOf(answer) ?? '', 'http://x').searchParams.get('before') ?? ''
/** The entries of every page, the newest page first. */
async function readPages(partner: Partner, path: string): Promise<any[][]> {
  const pages = []
  for (let next: string | null = path; next !== null; ) {
    const answer = await partner.call('GET', next)
    assert.equal(answer.status, 200, answer.text)
    assert.ok(answer.body.length <= 100)
    pages.push(answer.body)
    next = nextOf(answer)
  }
  return pages
}
/** Adds copies of an entry at the end of a campaign's history. Their `changes` name the copy, from 1. */
const addEntries = (id: string, entries: number, changes: string, bankId: string | null = null) =>
  platform.platform.database.execute(
    `insert into campaign_history (cashback_id, at, actor_type, actor_id, subject, bank_id, trigger, from_state, to_state, changes)
     select cashback_id, at + n * interval '1 ms', actor_type, actor_id, $4, $3::uuid, $5, to_state, to_state, ${changes}
     from campaign_history, generate_series(1, $2) as n where cashback_id = $1 and trigger = 'create' order by n`,
    [id, entries, bankId, bankId === null ? 'campaign' : 'bank', bankId === null ? 'edit' : 'segment'],
  )
const numbered = `jsonb_build_object('name', jsonb_build_array('x', n))`
const numbers = (first: number, last: number) => range(last - first + 1).map(index => first + index)
const numbersOf = (entries: { changes: { name: [string, number] } | null }[]) =>
  entries.flatMap(({ changes }) => (changes?.name ? [changes.name[1]] : []))

test('is read in pages: the newest first, each of them oldest first, until nothing is left', async () => {
  const id = await createCampaign(platform, {}, grocer)
  const whole = (await historyOf(grocer, id)).body
  await addEntries(id, 250, numbered)
  const newest = await historyOf(grocer, id)
  assert.deepEqual(numbersOf(newest.body), numbers(151, 250))
  for (const partner of [grocer, alpha]) {
    const pages = await readPages(partner, pathOf(id))
    assert.deepEqual(
      pages.map(page => page.length),
      [100, 100, 50 + whole.length],
    )
    const all = pages.toReversed().flat()
    assert.deepEqual(numbersOf(all), numbers(1, 250))
    assert.deepEqual(all.slice(0, whole.length).map(stepOf), whole.map(stepOf))
  }
})

test('a history that fits into one page has no next one', async () => {
  const id = await createCampaign(platform, {}, grocer)
  const { length } = (await historyOf(grocer, id)).body
  await addEntries(id, 100 - length, numbered)
  const answer = await historyOf(grocer, id)
  assert.deepEqual([answer.body.length, answer.headers.get('link')], [100, null])
})

test('every entry is read once, while others are added', async () => {
  const id = await createCampaign(platform, {}, grocer)
  await addEntries(id, 150, numbered)
  const first = await historyOf(grocer, id)
  await addEntries(id, 50, numbered)
  const second = await grocer.call('GET', nextOf(first) ?? '')
  assert.deepEqual(numbersOf([...second.body, ...first.body]), numbers(1, 150))
})

test('a link does not show the number of an entry, and no number leads to a page', async () => {
  const id = await createCampaign(platform, {}, grocer)
  await addEntries(id, 150, numbered)
  const rows = await platform.platform.database.query<{ number: number }>(
    'select history_id as number from campaign_history where cashback_id = $1',
    [id],
  )
  const cursor = cursorOf(await historyOf(alpha, id))
  assert.notEqual(cursor, cursorOf(await historyOf(alpha, id)), 'it is not even the same text for the same page')
  const bytes = Buffer.from(cursor, 'base64url')
  for (const { number } of rows) {
    const long = Buffer.alloc(8)
    long.writeBigUInt64BE(BigInt(number))
    assert.ok(!bytes.includes(long.subarray(4)), `${cursor} shows ${number}`)
  }
  const guessed = await alpha.call('GET', `${pathOf(id)}?before=${rows[70]?.number}`)
  assertRefused(guessed, 400, ['before must be the cursor of an earlier page'])
})

test('400 for the cursor of another campaign or reader, and for a changed one', async () => {
  const [id, other] = [await createCampaign(platform, {}, grocer), await createCampaign(platform, {}, grocer)]
  for (const one of [id, other]) await addEntries(one, 150, numbered)
  const operator = partnerAt(platform, platform.config.operatorKey)
  const cursor = cursorOf(await historyOf(alpha, id))
  const changed = `${cursor.slice(0, 45)}${cursor[45] === 'A' ? 'B' : 'A'}${cursor.slice(46)}`
  for (const [reader, path] of [
    [alpha, `${pathOf(other)}?before=${cursor}`],
    [grocer, `${pathOf(id)}?before=${cursor}`],
    [operator, `/admin/campaigns/${id}/history?before=${cursor}`],
    [alpha, `${pathOf(id)}?before=${changed}`],
    [alpha, `${pathOf(id)}?before=${cursor.slice(1)}`],
    [alpha, `${pathOf(id)}?before=${'A'.repeat(54)}`],
  ] as const)
    assertRefused(await reader.call('GET', path), 400, ['before must be the cursor of an earlier page'])
  assert.equal((await alpha.call('GET', `${pathOf(id)}?before=${cursor}`)).status, 200)
})

test('large entries make small pages: an answer stays below 1 MB', async () => {
  const id = await createCampaign(platform, {}, grocer)
  await addEntries(id, 120, `jsonb_build_object('name', jsonb_build_array(repeat('Ї', 20000), n))`)
  const path = pathOf(id)
  for (const partner of [grocer, alpha]) {
    assert.ok((await partner.call('GET', path)).text.length < 500_000)
    assert.deepEqual(numbersOf((await readPages(partner, path)).toReversed().flat()), numbers(1, 120))
  }
  await addEntries(id, 2, `jsonb_build_object('name', jsonb_build_array(repeat('Ї', 2000000), n))`)
  assert.equal((await historyOf(grocer, id)).body.length, 1, 'a page has at least one entry')
})

test('a bank reads past what it does not see: a page may be empty and still have a next one', async () => {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
  await addEntries(id, 3, numbered)
  await addEntries(id, 2_000, `jsonb_build_object('participantsIds', jsonb_build_array('[]'::jsonb, '[]'::jsonb))`)
  await addEntries(id, 2_000, `jsonb_build_object('customersCount', jsonb_build_array(n, n))`, ids.beta)
  const pages = await readPages(alpha, pathOf(id))
  assert.ok(pages.length > 1 && pages.length < 10, `${pages.length} pages`)
  const entries = pages.toReversed().flat()
  assert.deepEqual(entries.slice(0, 2).map(stepOf), [
    'campaign  create  awaitingBankApproval',
    `bank ${ids.alpha} invite  pending`,
  ])
  assert.deepEqual(numbersOf(entries), [1, 2, 3])
  assert.equal((await readPages(grocer, pathOf(id))).flat().length, 4_006)
})

test('the operator reads it in the same pages; the campaign comes with the newest', async () => {
  const id = await createCampaign(platform, {}, grocer)
  await addEntries(id, 250, numbered)
  const operator: Partner = partnerAt(platform, platform.config.operatorKey)
  const { body } = await operator.call('GET', `/admin/campaigns/${id}`)
  assert.deepEqual(numbersOf(body.history), numbers(151, 250))
  const pages = await readPages(operator, `/admin/campaigns/${id}/history`)
  assert.deepEqual(numbersOf(pages.toReversed().flat()), numbers(1, 250))
  assert.deepEqual(pages[0], body.history)
  assertRefused(await operator.call('GET', `/admin/campaigns/${ids.visa}/history`), 404)
})

test('the decisions of banks are found however much was written after them', async () => {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta, ids.gamma] }, grocer)
  await alpha.call('POST', `/cashbacks/${id}/confirm`)
  await beta.call('POST', `/cashbacks/${id}/reject`, { body: { comment: 'Not this season' } })
  const { body: history } = await historyOf(grocer, id)
  const atOf = (trigger: string) => history.find((entry: { trigger: string }) => entry.trigger === trigger).at
  await addEntries(id, 300, numbered)
  const path = `/portal/cashbacks/${id}/decisions`
  const ofAlpha = { bankId: ids.alpha, at: atOf('confirm'), comment: null }
  const answer = await grocer.call('GET', path)
  assert.deepEqual(answer.body, [ofAlpha, { bankId: ids.beta, at: atOf('reject'), comment: 'Not this season' }])
  assert.deepEqual((await alpha.call('GET', path)).body, [ofAlpha])
  assertRefused(await (await openMerchant(platform, 'voltshop')).call('GET', path), 403)
  assertRefused(await grocer.call('GET', `/portal/cashbacks/${ids.visa}/decisions`), 404)
})

test('a page of 50,000 entries is read by an index, without the others', async () => {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
  assert.equal((await alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  await addEntries(id, 25_000, numbered)
  await addEntries(id, 25_000, `jsonb_build_object('customersCount', jsonb_build_array(n, n))`, ids.beta)
  // Newer entries of another campaign, about the same bank.
  const other = await createCampaign(platform, { participantsIds: [ids.alpha] }, grocer)
  await addEntries(other, 50_000, numbered)
  await addEntries(other, 50_000, `jsonb_build_object('customersCount', jsonb_build_array(n, n))`, ids.alpha)
  await platform.platform.database.execute('analyze campaign_history')
  const [{ middle } = { middle: 0 }] = await platform.platform.database.query<{ middle: number }>(
    'select (min(history_id) + max(history_id)) / 2 as middle from campaign_history where cashback_id = $1',
    [id],
  )
  for (const reader of [
    { type: 'retailer', id: ids.grocer },
    { type: 'bank', id: ids.alpha },
    { type: 'platform' },
  ] as const)
    for (const before of [null, middle]) {
      const read = await rowsRead(database => findHistoryPage(database, { cashbackId: id, reader, before }))
      assert.ok(read < 3_000, `${reader.type}, before ${before}: ${read} rows`)
    }
  const read = await rowsRead(database => findDecisions(database, id, null))
  assert.ok(read > 0 && read < 100, `decisions: ${read} rows`)
})

/** How many rows the statements of a read take from the history. */
async function rowsRead(read: (database: Queryable) => Promise<unknown>): Promise<number> {
  const { database } = platform.platform
  let rows = 0
  const counting = explaining(database, node => {
    if (node['Relation Name'] === 'campaign_history')
      rows += (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  })
  await read(counting)
  return rows
}
