/** GET /portal/cashbacks/:id/history (contract/campaigns.md, "History"). */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { addUser } from '../../../src/access/operations.ts'
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
import { addCustomers, customers, fileOf, putSegment } from '../../support/segments.ts'

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
afterEach(() => platform.call('DELETE', '/sandbox/clock'))

const historyOf = (partner: Partner, id: string) => partner.call('GET', `/portal/cashbacks/${id}/history`)
const clientIdOf = ({ token }: Partner): string => JSON.parse(atob(token.split('.')[1] ?? '')).sub

type Entry = { subject: string; bankId: string | null; trigger: string; from: string | null; to: string | null }
const steps = (entries: Entry[]) =>
  entries.map(({ subject, bankId, trigger, from, to }) => [subject, bankId, trigger, from, to].join(' '))

/** A campaign that was created, approved by alpha, rejected by beta, and launched; its period is over. */
async function wholeLife(): Promise<string> {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
  assert.equal((await alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  const comment = 'Not this season'
  assert.equal((await beta.call('POST', `/cashbacks/${id}/reject`, { body: { comment } })).status, 201)
  assert.equal((await grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)).status, 201)
  assert.equal((await platform.call('POST', '/sandbox/clock', { body: { advance: 'P100D' } })).status, 200)
  return id
}

suite('200', () => {
  test('the merchant sees every step with its actor, in order', async () => {
    const id = await wholeLife()
    const answer = await historyOf(grocer, id)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(steps(answer.body), [
      'campaign  create  awaitingBankApproval',
      `bank ${ids.alpha} invite  pending`,
      `bank ${ids.beta} invite  pending`,
      `bank ${ids.alpha} confirm pending approved`,
      `bank ${ids.beta} reject pending declined`,
      'campaign  reject awaitingBankApproval awaitingMerchantApproval',
      'campaign  launch awaitingMerchantApproval approved',
      'campaign  start approved active',
      `reporting ${ids.alpha} end  awaitingBankReconciliation`,
      'campaign  end active awaitingCompensationConfirmation',
    ])
    const merchant = { type: 'retailer', id: ids.grocer, login: clientIdOf(grocer), name: 'Гросер', role: 'gateway' }
    // The merchant does not see the logins of a bank.
    const rejecting = { type: 'bank', id: ids.beta, login: null, name: 'Бета Банк', role: 'ADMIN' }
    const clock = { type: 'clock', id: null, login: null, name: null, role: null }
    assert.deepEqual(
      answer.body.map((entry: { actor: object }) => entry.actor),
      [
        merchant,
        merchant,
        merchant,
        { type: 'bank', id: ids.alpha, login: null, name: 'Alpha Bank', role: 'ADMIN' },
        rejecting,
        rejecting,
        merchant,
        clock,
        clock,
        clock,
      ],
    )
    assert.deepEqual(
      answer.body.map((entry: { comment: string | null }) => entry.comment),
      [null, null, null, null, 'Not this season', 'Not this season', null, null, null, null],
    )
    const times = answer.body.map((entry: { at: string }) => entry.at)
    assert.deepEqual(times, times.toSorted(), 'in the order of time')
    assert.ok(times.every((at: string) => new Date(at).toISOString() === at))
    assert.ok(
      Date.parse(times[7]) - Date.parse(times[6]) > 99 * 86_400_000,
      'the clock’s steps are at the clock’s time',
    )
    assert.deepEqual(Object.keys(answer.body[0]).sort(), [
      'actor',
      'at',
      'bankId',
      'changes',
      'comment',
      'from',
      'subject',
      'to',
      'trigger',
    ])
  })

  test('a bank sees the campaign’s steps and its own steps, but neither the names nor the comments of other banks', async () => {
    const id = await wholeLife()
    const answer = await historyOf(alpha, id)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(steps(answer.body), [
      'campaign  create  awaitingBankApproval',
      `bank ${ids.alpha} invite  pending`,
      `bank ${ids.alpha} confirm pending approved`,
      'campaign  decide awaitingBankApproval awaitingMerchantApproval',
      'campaign  launch awaitingMerchantApproval approved',
      'campaign  start approved active',
      `reporting ${ids.alpha} end  awaitingBankReconciliation`,
      'campaign  end active awaitingCompensationConfirmation',
    ])
    assert.deepEqual(answer.body[3].actor, { type: 'bank', id: null, login: null, name: null, role: null })
    const merchant = { type: 'retailer', id: ids.grocer, login: null, name: 'Гросер', role: 'gateway' }
    assert.deepEqual(answer.body[0].actor, merchant)
    for (const secret of [ids.beta, 'Бета', clientIdOf(beta), clientIdOf(grocer), 'season'])
      assert.ok(!answer.text.includes(secret), secret)
    const own = await historyOf(beta, id)
    assert.equal(own.body[2].comment, 'Not this season')
    assert.equal(own.body[3].trigger, 'reject')
    const ownActor = { type: 'bank', id: ids.beta, login: clientIdOf(beta), name: 'Бета Банк', role: 'ADMIN' }
    assert.deepEqual(own.body[2].actor, ownActor)
    assert.ok(!own.text.includes(ids.alpha))
  })

  test('neither history nor events tell a bank what the last bank decided', async () => {
    const told = async (partner: Partner, id: string) => {
      const { body } = await historyOf(partner, id)
      const entry = body.find(({ to }: Entry) => to === 'awaitingMerchantApproval')
      // This request is answered only when every change before it has its numbered event.
      await partner.call('GET', '/partner/v1/events?after=now')
      const feed = await partner.call('GET', '/partner/v1/events?type=campaign.awaiting_merchant&limit=1000&after=0')
      const events = feed.body.data.filter(({ data }: { data: { cashbackId: string } }) => data.cashbackId === id)
      assert.equal(events.length, 1)
      return [entry.trigger, events[0].data.trigger]
    }
    for (const last of ['confirm', 'reject']) {
      const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
      assert.equal((await alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
      assert.equal((await beta.call('POST', `/cashbacks/${id}/${last}`)).status, 201)
      assert.deepEqual(await Promise.all([alpha, beta, grocer].map(partner => told(partner, id))), [
        ['decide', 'decide'],
        [last, last],
        [last, last],
      ])
    }
  })

  test('a portal user is named by the login', async () => {
    const user = { owner: { merchant: 'grocer' }, login: 'olena@grocer', role: 'viewer', password: 'a long password' }
    const { database } = platform.platform
    await addUser({ database }, { ...user, role: 'editor', login: 'petro@grocer' })
    await addUser({ database }, user)
    const logIn = async (login: string) => {
      const body = { typeAccount: 'retailer', login, password: user.password }
      const answer = await platform.call('POST', '/auth/login', { body })
      assert.equal(answer.status, 200, answer.text)
      return partnerAt(platform, answer.body.access_token)
    }
    const id = await createCampaign(platform, {}, await logIn('petro@grocer'))
    const answer = await historyOf(await logIn('olena@grocer'), id)
    assert.equal(answer.status, 200, 'a viewer may read')
    const petro = { type: 'retailer', id: ids.grocer, login: 'petro@grocer', name: 'Гросер', role: 'editor' }
    assert.deepEqual(answer.body[0].actor, petro)
  })

  test('a repeated decision leaves one entry', async () => {
    const id = await createCampaign(platform, {}, grocer)
    await Promise.all(Array.from({ length: 5 }, () => alpha.call('POST', `/cashbacks/${id}/confirm`)))
    const { body } = await historyOf(grocer, id)
    assert.equal(steps(body).filter(step => step.includes(' confirm pending ')).length, 1)
  })
})

suite('edits and segments', () => {
  type Told = Entry & { changes: Record<string, unknown> | null }
  const told = async (partner: Partner, id: string): Promise<[string, Told['changes']][]> => {
    const { body } = await historyOf(partner, id)
    return (body as Told[]).filter(({ changes }) => changes !== null).map(({ trigger, changes }) => [trigger, changes])
  }
  const edit = async (id: string, body: object) => {
    const answer = await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body })
    assert.equal(answer.status, 200, answer.text)
  }

  test('an edit is told to both sides with old and new values', async () => {
    const id = await createCampaign(platform, {}, grocer)
    const { body: before } = await grocer.call('GET', `/cashbacks/for-merchant/${id}`)
    await edit(id, {
      percentage: 20,
      merchantCompensationPercentage: 10,
      maxBudget: 1000.5,
      sku: ['S-1'],
      allProducts: false,
    })
    await edit(id, { description: 'Changed', bannerBig: 'https://grocer.example/big.png' })
    await edit(id, { terminalsPlatform: false, terminals: [{ terminal_id: 'T-1' }, { terminal_id: 'T-2' }] })
    await edit(id, { dateTo: '2031-01-01' })
    await edit(id, { percentage: 20 })
    const expected = [
      [
        'edit',
        {
          percentage: [5, 20],
          merchantCompensationPercentage: [60, 10],
          maxBudget: [null, 1000.5],
          sku: [[], ['S-1']],
          allProducts: [true, false],
        },
      ],
      ['edit', { description: null, bannerBig: null }],
      ['edit', { terminals: [0, 2], terminalsPlatform: [true, false] }],
      ['edit', { dateTo: [before.dateTo, '2031-01-01T00:00:00.000Z'] }],
    ]
    for (const partner of [grocer, alpha])
      assert.deepEqual(await told(partner, id), expected, 'the last edit changed nothing')
    const { body } = await historyOf(alpha, id)
    const entry = body.find(({ trigger }: Entry) => trigger === 'edit')
    assert.deepEqual(
      [entry.subject, entry.bankId, entry.from, entry.to, entry.actor.login],
      ['campaign', null, 'awaitingBankApproval', 'awaitingBankApproval', null],
    )
  })

  test('which banks are invited is told to the merchant alone', async () => {
    const id = await createCampaign(platform, {}, grocer)
    await edit(id, { participantsIds: [ids.alpha, ids.beta] })
    await edit(id, { participantsIds: [ids.alpha, ids.beta, ids.gamma], name: 'Інша' })
    const names = ['Осінь', 'Інша']
    assert.deepEqual(await told(grocer, id), [
      ['edit', { participantsIds: [[ids.alpha], [ids.alpha, ids.beta]] }],
      [
        'edit',
        {
          participantsIds: [
            [ids.alpha, ids.beta],
            [ids.alpha, ids.beta, ids.gamma],
          ],
          name: names,
        },
      ],
    ])
    assert.deepEqual(await told(alpha, id), [['edit', { name: names }]])
  })

  test('a list with many items or much text is told by its length', async () => {
    const id = await createCampaign(platform, {}, grocer)
    await edit(id, { sku: Array.from({ length: 101 }, (_, index) => `S-${index}`), allProducts: false })
    const [[, changes] = []] = await told(alpha, id)
    assert.deepEqual(changes, { sku: [0, 101], allProducts: [true, false] })
    await edit(id, { sku: Array.from({ length: 10 }, (_, index) => `${index}`.padEnd(120, 'x')) })
    await edit(id, { sku: ['S-1', 'S-2'] })
    assert.deepEqual(
      (await told(alpha, id)).slice(1).map(([, shorter]) => shorter),
      [{ sku: [101, 10] }, { sku: [10, 2] }],
    )
  })

  test('a segment is told to its bank exactly, and to the merchant rounded', async () => {
    await addCustomers(platform, 'alpha', customers('A', 47))
    await addCustomers(platform, 'beta', ['B-1'])
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
    const form = async (count: number) => {
      const answer = await putSegment(grocer, id, fileOf([...customers('A', count), 'B-1']))
      assert.equal(answer.status, 200, answer.text)
    }
    await form(19)
    await form(47)
    await form(20)
    const merchantSees = [
      [null, 0],
      [null, 0],
      [0, 40],
      [0, 0],
      [40, 20],
      [0, 0],
    ]
    assert.deepEqual(
      await told(grocer, id),
      merchantSees.map(customersCount => ['segment', { customersCount }]),
    )
    const alphaSees = [
      [null, 19],
      [19, 47],
      [47, 20],
    ]
    assert.deepEqual(
      await told(alpha, id),
      alphaSees.map(customersCount => ['segment', { customersCount }]),
    )
  })
})

suite('a long history', () => {
  const pathOf = (id: string) => `/portal/cashbacks/${id}/history`
  const nextOf = ({ headers }: Answer): string | null => headers.get('link')?.match(/^<(.*)>; rel="next"$/)?.[1] ?? null
  const cursorOf = (answer: Answer): string =>
    new URL(nextOf(answer) ?? '', 'http://x').searchParams.get('before') ?? ''
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
      assert.deepEqual(steps(all.slice(0, whole.length)), steps(whole))
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
    assert.deepEqual(steps(entries).slice(0, 2), [
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
    const atOf = (trigger: string) => history.find((entry: Entry) => entry.trigger === trigger).at
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
})

suite('refused', () => {
  test('400: the id is no UUID, or there is a query', async () => {
    assertRefused(await historyOf(grocer, '1'), 400, ['cashbackId must be a UUID'])
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await grocer.call('GET', `/portal/cashbacks/${id}/history?all=1`), 400, ['all must be omitted'])
    for (const before of ['', '0', '-1', 'x', '1.5', '99999999999999999999'])
      assertRefused(await grocer.call('GET', `/portal/cashbacks/${id}/history?before=${before}`), 400, /before/)
  })

  test('401 without a token, 403 for a bank’s VIEWER', async () => {
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await platform.call('GET', `/portal/cashbacks/${id}/history`), 401)
    assertRefused(await historyOf(await openCampaignBank(platform, 'alpha', 'VIEWER'), id), 403)
  })

  test('403 for another merchant, 404 for a bank that is not invited', async () => {
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await historyOf(await openMerchant(platform, 'voltshop'), id), 403)
    assertRefused(await historyOf(beta, id), 404)
  })

  test('404 for a campaign that does not exist', async () => {
    for (const partner of [grocer, alpha]) assertRefused(await historyOf(partner, ids.visa), 404)
  })
})
