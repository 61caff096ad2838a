/** POST /cashbacks/:cashbackId/confirm and /reject: a bank decides whether it takes part. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  assertRefused,
  assertResult,
  campaignDirectory,
  createCampaign,
  ids,
  inDays,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { advance, stopClock } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { race, together } from '../../support/race.ts'

let platform: TestPlatform
let alpha: Partner
let beta: Partner
let grocer: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  alpha = await openCampaignBank(platform)
  beta = await openCampaignBank(platform, 'beta')
  grocer = await openMerchant(platform)
})
after(() => platform.close())

const decide = (bank: Partner, decision: 'confirm' | 'reject', id: string, body?: unknown) =>
  bank.call('POST', `/cashbacks/${id}/${decision}`, body === undefined ? {} : { body })
const launch = (id: string) => grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)
const all = { participantsIds: [ids.alpha, ids.beta, ids.gamma] }

type Step = { bankId: string | null; trigger: string; from: string | null; to: string; comment: string | null }
const historyOf = (id: string): Promise<(Step & { actor: string; actorId: string | null })[]> =>
  platform.platform.database.query(
    `select bank_id as "bankId", trigger, from_state as "from", to_state as "to", comment, actor_type as actor,
       actor_id as "actorId"
     from campaign_history where cashback_id = $1 and trigger not in ('create', 'invite') order by history_id`,
    [id],
  )
const stateOf = async (id: string): Promise<{ status: string; version: number; banks: Record<string, string> }> => {
  const [row] = await platform.platform.database.query<{
    status: string
    version: number
    banks: Record<string, string>
  }>(
    `select c.status, c.version, json_object_agg(b.bank_id, b.status) as banks
     from campaigns c join campaign_banks b using (cashback_id) where cashback_id = $1 group by c.cashback_id`,
    [id],
  )
  assert.ok(row)
  return row
}

const own = (overrides: Record<string, unknown> = {}) => ({
  retailerId: ids.grocer,
  name: 'Власна',
  dateFrom: inDays(platform, 10),
  dateTo: inDays(platform, 40),
  minAmount: 100,
  maxAmount: 5000,
  percentage: 5,
  countryCode: 'UA',
  terminalsPlatform: true,
  paymentSystemsId: [ids.visa],
  merchantCompensationPercentage: 60,
  ...overrides,
})
async function createOwn(bank: Partner): Promise<string> {
  const answer = await bank.call('POST', '/portal/cashbacks', { body: own() })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.id
}

describe('201 on confirm', () => {
  test('of the only bank: the campaign goes to the merchant, who did it is in the history', async () => {
    const id = await createCampaign(platform)
    const answer = await decide(alpha, 'confirm', id)
    assertResult(answer, 201, { id, status: 'awaitingMerchantApproval' })
    assert.equal(answer.body.message, 'Participation in the campaign is confirmed')
    assert.deepEqual((await stateOf(id)).banks, { [ids.alpha]: 'approved' })
    const by = { trigger: 'confirm', comment: null, actor: 'bank', actorId: ids.alpha }
    assert.deepEqual(await historyOf(id), [
      { ...by, bankId: ids.alpha, from: 'pending', to: 'approved' },
      { ...by, bankId: null, from: 'awaitingBankApproval', to: 'awaitingMerchantApproval' },
    ])
  })

  test('of the first of three banks: the campaign waits on', async () => {
    const id = await createCampaign(platform, all)
    assertResult(await decide(beta, 'confirm', id), 201, { id, status: 'awaitingBankApproval' })
    const { banks } = await stateOf(id)
    assert.deepEqual(banks, { [ids.alpha]: 'pending', [ids.beta]: 'approved', [ids.gamma]: 'pending' })
  })

  test('with an empty body, and with an id in capitals', async () => {
    const id = await createCampaign(platform, all)
    assertResult(await decide(alpha, 'confirm', id, {}), 201, { id, status: 'awaitingBankApproval' })
    assertResult(await decide(beta, 'confirm', id.toUpperCase()), 201, { id, status: 'awaitingBankApproval' })
  })

  test('repeated, it is answered as the first time and changes nothing', async () => {
    const id = await createCampaign(platform)
    const first = await decide(alpha, 'confirm', id)
    const state = await stateOf(id)
    assert.deepEqual((await decide(alpha, 'confirm', id)).body, first.body)
    assert.deepEqual(await stateOf(id), state)
    assert.equal((await historyOf(id)).length, 2)
  })

  test('repeated after the campaign has moved on', async () => {
    const id = await createCampaign(platform)
    await decide(alpha, 'confirm', id)
    assertResult(await launch(id), 201, { id, status: 'approved' })
    assertResult(await decide(alpha, 'confirm', id), 201, { id, status: 'approved' })
  })

  test('of a campaign that the bank created: auto-approved, also when repeated', async () => {
    const id = await createOwn(alpha)
    const first = await decide(alpha, 'confirm', id)
    assertResult(first, 201, { id, status: 'approved' })
    assert.match(first.body.message, /auto-approved/)
    assert.deepEqual((await decide(alpha, 'confirm', id)).body, first.body)
  })

  test('of a bank invited later, while the merchant’s turn has come', async () => {
    const id = await createCampaign(platform)
    await decide(alpha, 'confirm', id)
    const edited = await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, {
      body: { participantsIds: [ids.alpha, ids.beta] },
    })
    assert.equal(edited.status, 200, edited.text)
    assertResult(await decide(beta, 'confirm', id), 201, { id, status: 'awaitingMerchantApproval' })
  })

  test('by an EDITOR', async () => {
    const id = await createCampaign(platform)
    const editor = await openCampaignBank(platform, 'alpha', 'EDITOR')
    assertResult(await decide(editor, 'confirm', id), 201, { id, status: 'awaitingMerchantApproval' })
  })
})

describe('201 on reject', () => {
  const message = 'Participation in the campaign is rejected'

  test('of the only bank: a merchant’s campaign stays as it is, the comment is in the history', async () => {
    const id = await createCampaign(platform)
    const answer = await decide(alpha, 'reject', id, { comment: 'Бюджет вичерпано 🙈' })
    assertResult(answer, 201, { id, status: 'awaitingBankApproval' })
    assert.equal(answer.body.message, message)
    assert.deepEqual((await stateOf(id)).banks, { [ids.alpha]: 'declined' })
    const [step, ...others] = await historyOf(id)
    assert.deepEqual(others, [])
    assert.equal(step?.comment, 'Бюджет вичерпано 🙈')
    assert.equal(step?.trigger, 'reject')
  })

  test('of the last bank, when another has approved: the merchant’s turn', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    await decide(alpha, 'confirm', id)
    assertResult(await decide(beta, 'reject', id), 201, { id, status: 'awaitingMerchantApproval' })
  })

  test('of a campaign that the bank created: declined', async () => {
    const id = await createOwn(alpha)
    const answer = await decide(alpha, 'reject', id, {})
    assertResult(answer, 201, { id, status: 'declined' })
    assert.equal(answer.body.message, message)
    assert.deepEqual((await decide(alpha, 'reject', id)).body, answer.body)
  })

  test('repeated, it keeps the first comment', async () => {
    const id = await createCampaign(platform)
    const first = await decide(alpha, 'reject', id, { comment: 'first' })
    assert.deepEqual((await decide(alpha, 'reject', id, { comment: 'second' })).body, first.body)
    assert.deepEqual(
      (await historyOf(id)).map(({ comment }) => comment),
      ['first'],
    )
  })

  test('repeated after the campaign was deleted', async () => {
    const id = await createCampaign(platform)
    await decide(alpha, 'reject', id)
    assert.equal((await grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
    assertResult(await decide(alpha, 'reject', id), 201, { id, status: 'deleted' })
  })

  const comments: [string, unknown][] = [
    ['no body', undefined],
    ['no comment', {}],
    ['null', { comment: null }],
    ['lines and a tab', { comment: 'a\r\n\tb' }],
    ['the longest comment', { comment: '😀'.repeat(1000) }],
  ]
  for (const [name, body] of comments)
    test(`with ${name}`, async () => {
      const id = await createCampaign(platform)
      assertResult(await decide(alpha, 'reject', id, body), 201, { id, status: 'awaitingBankApproval' })
      const given = (body as { comment?: string } | undefined)?.comment ?? null
      assert.deepEqual(
        (await historyOf(id)).map(({ comment }) => comment),
        [given],
      )
    })
})

describe('400', () => {
  test('one and the same message for no UUID, an unknown id, and a campaign of others', async () => {
    const others = await createCampaign(platform, { participantsIds: [ids.beta] })
    const strange = [
      'x',
      '123',
      others.slice(1),
      `urn:uuid:${others}`,
      '%00',
      `${others}%00`,
      `{${others}}`,
      '%20',
      '..%2F..',
      'a'.repeat(5_000),
    ]
    for (const id of [...strange, randomUUID(), others])
      for (const decision of ['confirm', 'reject'] as const)
        assertRefused(await decide(alpha, decision, id), 400, 'The campaign was not found')
    assert.deepEqual((await stateOf(others)).banks, { [ids.beta]: 'pending' })
  })

  test('the opposite decision', async () => {
    const id = await createCampaign(platform, all)
    await decide(alpha, 'confirm', id)
    assertRefused(await decide(alpha, 'reject', id), 400, /approved/)
    await decide(beta, 'reject', id)
    assertRefused(await decide(beta, 'confirm', id), 400, /declined/)
    assert.deepEqual((await stateOf(id)).banks, {
      [ids.alpha]: 'approved',
      [ids.beta]: 'declined',
      [ids.gamma]: 'pending',
    })
  })

  test('after the launch without this bank, and on a deleted campaign', async () => {
    const launched = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    await decide(alpha, 'confirm', launched)
    assertResult(await launch(launched), 201, { id: launched, status: 'approved' })
    const deleted = await createCampaign(platform, { participantsIds: [ids.beta] })
    await grocer.call('DELETE', `/cashbacks/for-merchant/${deleted}`)
    for (const id of [launched, deleted])
      for (const decision of ['confirm', 'reject'] as const) assertRefused(await decide(beta, decision, id), 400)
  })

  test('from exactly dateTo on, although no job has looked; until then it is possible', async () => {
    const dateTo = inDays(platform, 20)
    const [late, justInTime] = [await createCampaign(platform, { dateTo }), await createCampaign(platform, { dateTo })]
    {
      using _ = stopClock(platform, new Date(Date.parse(dateTo) - 1))
      assertResult(await decide(alpha, 'confirm', justInTime), 201, { status: 'awaitingMerchantApproval' })
    }
    // The clock reaches `dateTo` only now, because from then on the platform's job expires every campaign without a
    // decision.
    using _ = stopClock(platform, dateTo)
    assertRefused(await decide(alpha, 'confirm', late), 400, /over|expired/)
  })

  test('faults of form come before whether the campaign exists', async () => {
    const id = randomUUID()
    assertRefused(await decide(alpha, 'confirm', id, { comment: 'x' }), 400, ['comment must be omitted'])
    assertRefused(await decide(alpha, 'reject', id, { comment: 1, reason: 'x' }), 400, [
      'comment must be a string or null',
      'reason must be omitted',
    ])
    const tooLong = { comment: 'я'.repeat(1001) }
    assertRefused(await decide(alpha, 'reject', id, tooLong), 400, [
      'comment must be shorter than or equal to 1000 characters',
    ])
    assertRefused(await decide(alpha, 'reject', id, { comment: 'a\u202eb' }), 400, [
      'comment must be a text without control characters and without characters that turn its direction',
    ])
    const strange = [
      'null',
      '[]',
      '"x"',
      '{"comment":"a\\u0000b"}',
      '{"comment":"\\ud800"}',
      '{"comment":"a","comment":"b"}',
      '{',
    ]
    for (const raw of strange)
      assertRefused(await alpha.call('POST', `/cashbacks/${id}/reject`, { raw }), 400, /comment|body/i)
    assertRefused(await alpha.call('POST', `/cashbacks/${id}/confirm?now=1`), 400, ['now must be omitted'])
  })
})

describe('401 and 403 come before everything else', () => {
  for (const decision of ['confirm', 'reject'] as const)
    test(decision, async () => {
      const id = await createCampaign(platform)
      const raw = { raw: 'no JSON' }
      for (const target of [id, 'x']) {
        assertRefused(await platform.call('POST', `/cashbacks/${target}/${decision}`, raw), 401)
        const viewer = await openCampaignBank(platform, 'alpha', 'VIEWER')
        for (const caller of [viewer, grocer])
          assertRefused(await caller.call('POST', `/cashbacks/${target}/${decision}`, raw), 403)
      }
      assert.deepEqual((await stateOf(id)).banks, { [ids.alpha]: 'pending' })
    })
})

describe('at the same instant', () => {
  const rounds = 25

  test('the last two banks confirm: the campaign moves to the merchant exactly once', async () => {
    for (let round = 0; round < rounds; round++) {
      const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
      const answers = await Promise.all([decide(alpha, 'confirm', id), decide(beta, 'confirm', id)])
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 201],
      )
      const moved = answers.map(({ body }) => body.status).sort()
      assert.deepEqual(moved, ['awaitingBankApproval', 'awaitingMerchantApproval'])
      const steps = (await historyOf(id)).filter(({ bankId }) => bankId === null)
      assert.deepEqual(
        steps.map(({ to }) => to),
        ['awaitingMerchantApproval'],
      )
    }
  })

  test('one bank confirms, the other rejects: the merchant’s turn, once, whoever was first', async () => {
    const round = async (lead: number) => {
      const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
      const [confirmed, rejected] = await together(
        lead,
        () => decide(alpha, 'confirm', id),
        () => decide(beta, 'reject', id),
      )
      assert.equal(confirmed.status, 201)
      assert.equal(rejected.status, 201)
      const steps = (await historyOf(id)).filter(({ bankId }) => bankId === null)
      assert.equal(steps.length, 1)
      return `${steps[0]?.trigger} last`
    }
    await race(['confirm last', 'reject last'], round, rounds)
  })

  test('the same bank confirms and rejects: one wins, the other is refused; both are seen', async () => {
    const decisions = ['confirm', 'reject'] as const
    const round = async (lead: number) => {
      const id = await createCampaign(platform, all)
      const answers = await together(
        lead,
        () => decide(alpha, 'confirm', id),
        () => decide(alpha, 'reject', id),
      )
      const won = decisions.filter((_, index) => answers[index]?.status === 201)
      assert.equal(won.length, 1)
      for (const answer of answers) if (answer.status !== 201) assertRefused(answer, 400, /has decided already/)
      const { banks } = await stateOf(id)
      assert.equal(banks[ids.alpha], won[0] === 'confirm' ? 'approved' : 'declined')
      assert.deepEqual(
        (await historyOf(id)).map(({ trigger }) => trigger),
        won,
      )
      return won[0]
    }
    await race<string | undefined>(decisions, round, rounds)
  })

  test('ten times the same confirm: one decision', async () => {
    const id = await createCampaign(platform, all)
    const answers = await Promise.all(Array.from({ length: 10 }, () => decide(alpha, 'confirm', id)))
    for (const { status, body } of answers) assert.deepEqual([status, body], [201, answers[0]?.body])
    assert.equal((await historyOf(id)).length, 1)
  })

  test('a bank confirms while the merchant launches early: in time or expired, nothing between; both are seen', async () => {
    const round = async (lead: number) => {
      const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
      await decide(alpha, 'confirm', id)
      const [confirmed, launched] = await together(
        lead,
        () => decide(beta, 'confirm', id),
        () => launch(id),
      )
      assertResult(launched, 201, { id, status: 'approved' })
      const { status, banks } = await stateOf(id)
      assert.equal(status, 'approved')
      assert.equal(banks[ids.beta], confirmed.status === 201 ? 'approved' : 'expired')
      if (confirmed.status !== 201) assertRefused(confirmed, 400)
      return String(banks[ids.beta])
    }
    await race(['approved', 'expired'], round, rounds)
  })
})

test('a decision that comes after the clock ended the campaign is refused', async () => {
  const id = await createCampaign(platform, { dateTo: inDays(platform, 11) })
  await advance(platform, 'P12D')
  assertRefused(await decide(alpha, 'confirm', id), 400)
  assert.equal((await stateOf(id)).status, 'expired')
})
