/**
 * A caller sends the version of the campaign on which its decision is based. If the campaign has changed since then,
 * the answer is 412 (contract/http.md, "Versions of a campaign").
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { assertRefused, campaignDirectory, createCampaign, ids, type Partner } from '../../support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { together } from '../../support/race.ts'
import {
  endedCampaign,
  formOf,
  line,
  openSides,
  reportOf,
  runningCampaign,
  type Sides,
  uploadBank,
} from '../../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
})
after(() => platform.close())
afterEach(() => platform.call('DELETE', '/sandbox/clock'))

const both = { participantsIds: [ids.alpha, ids.beta] }
const create = (overrides: Record<string, unknown> = both) => createCampaign(platform, overrides, sides.grocer)
const edit = (id: string, body: object) => sides.grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body })
const decide = (bank: Partner, decision: 'confirm' | 'reject', id: string, tag?: string) =>
  bank.call('POST', `/cashbacks/${id}/${decision}`, tag === undefined ? {} : { headers: { 'if-match': tag } })

const tagOf = ({ headers, status, text }: Answer): string => {
  assert.equal(status, 200, text)
  return headers.get('etag') ?? assert.fail('no ETag')
}
const bankTag = async (bank: Partner, id: string) => tagOf(await bank.call('GET', `/portal/cashbacks/${id}`))
const merchantTag = async (id: string) => tagOf(await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`))
/** Returns the version that a system knows if it has read only the list. */
async function listTag(bank: Partner, id: string): Promise<string> {
  const { body } = await bank.call('GET', '/cashbacks/for-bank')
  const { updatedAt } = body.find(({ cashbackId }: { cashbackId: string }) => cashbackId === id)
  return `"${updatedAt}"`
}

for (const [form, read] of [
  ['the ETag of the detail', bankTag],
  ['the quoted updatedAt of the list', listTag],
] as const)
  describe(`a bank that sends ${form}`, () => {
    for (const decision of ['confirm', 'reject'] as const)
      test(`${decision}s what it has seen, and repeats that`, async () => {
        const id = await create()
        const seen = await read(sides.alpha, id)
        assert.equal((await decide(sides.alpha, decision, id, seen)).status, 201)
        const repeated = await decide(sides.alpha, decision, id, seen)
        assert.equal(repeated.status, 201, repeated.text)
      })

    test('is refused once the terms are others', async () => {
      const id = await create()
      const seen = await read(sides.alpha, id)
      assert.equal((await edit(id, { percentage: 20, merchantCompensationPercentage: 10 })).status, 200)
      for (const decision of ['confirm', 'reject'] as const)
        assertRefused(await decide(sides.alpha, decision, id, seen), 412, /read it again/)
      assert.equal((await sides.alpha.call('GET', `/portal/cashbacks/${id}`)).body.bankStatus, 'pending')
      assert.equal((await decide(sides.alpha, 'confirm', id, await read(sides.alpha, id))).status, 201)
    })

    test('is not disturbed by other banks', async () => {
      const id = await create()
      const seen = await read(sides.alpha, id)
      assert.equal((await decide(sides.beta, 'reject', id)).status, 201)
      assert.equal((await edit(id, { participantsIds: [ids.alpha, ids.beta, ids.gamma] })).status, 200)
      assert.equal((await decide(sides.alpha, 'confirm', id, seen)).status, 201)
    })

    test('is refused once its own segment is another', async () => {
      const id = await create()
      const seen = await read(sides.alpha, id)
      const form = await formOf({ file: 'customerId\nC-1\n' })
      assert.equal((await sides.grocer.call('PUT', `/portal/cashbacks/${id}/segment`, form)).status, 200)
      assertRefused(await decide(sides.alpha, 'confirm', id, seen), 412)
    })

    test('is refused with what it knew before it was invited again', async () => {
      const id = await create()
      const seen = await read(sides.alpha, id)
      assert.equal((await edit(id, { participantsIds: [ids.beta] })).status, 200)
      assert.equal((await edit(id, both)).status, 200)
      assertRefused(await decide(sides.alpha, 'confirm', id, seen), 412)
    })
  })

test('a bank cannot see when other banks decide, or are invited', async () => {
  const { alpha, beta } = sides
  const seenBy = async (bank: Partner, id: string) => {
    const list = await bank.call('GET', '/cashbacks/for-bank')
    const detail = await bank.call('GET', `/portal/cashbacks/${id}`)
    const table = await bank.call('GET', '/portal/cashbacks?sortBy=updatedAt&pageSize=1')
    const sheet = await bank.call('GET', '/portal/cashbacks.csv')
    return {
      listTag: tagOf(list),
      list: list.body.find(({ cashbackId }: { cashbackId: string }) => cashbackId === id)?.updatedAt,
      detailTag: tagOf(detail),
      detail: detail.body.updatedAt,
      table: table.body.data[0],
      sheet: sheet.text,
    }
  }
  const id = await create()
  const later = await create({ participantsIds: [ids.alpha] })
  assert.equal((await decide(alpha, 'confirm', id)).status, 201)
  assert.equal((await edit(later, { percentage: 20 })).status, 200)
  const seen = await seenBy(alpha, id)
  assert.equal(seen.detailTag, `"${seen.detail}"`)
  assert.equal(seen.list, seen.detail)
  assert.equal(seen.table.cashbackId, later)
  const repeat = await decide(alpha, 'confirm', id)

  assert.equal((await edit(id, { participantsIds: [ids.alpha, ids.beta, ids.gamma] })).status, 200)
  assert.deepEqual(await seenBy(alpha, id), seen, 'another bank is invited')
  const beforeOther = await merchantTag(id)
  assert.equal((await decide(beta, 'confirm', id)).status, 201)
  assert.notEqual(await merchantTag(id), beforeOther)
  assert.deepEqual(await seenBy(alpha, id), seen, 'another bank has decided')
  assert.deepEqual((await decide(alpha, 'confirm', id)).body, repeat.body)

  const launched = await sides.grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)
  assert.equal(launched.status, 201)
  const present = await seenBy(alpha, id)
  assert.equal(present.detail, launched.body.updatedAt)
  assert.equal(present.list, launched.body.updatedAt)
  assert.notEqual(present.listTag, seen.listTag)
  const form = await formOf({ file: 'customerId\nC-1\n' })
  assert.equal((await sides.grocer.call('PUT', `/portal/cashbacks/${id}/segment`, form)).status, 200)
  assert.notEqual((await seenBy(alpha, id)).detail, present.detail, 'its segment')
})

test('a bank cannot find out by trying tags when other banks decide, or are invited', async () => {
  const { alpha, beta, grocer } = sides
  const id = await create()
  const seen = await bankTag(alpha, id)
  assert.equal(tagOf(await alpha.call('GET', `/portal/cashbacks/${id}/reconciliation`)), seen)
  const hidden: string[] = []
  for (const change of [
    () => edit(id, { participantsIds: [ids.alpha, ids.beta, ids.gamma] }),
    () => decide(beta, 'confirm', id),
  ]) {
    assert.ok((await change()).status < 300)
    const { body } = await grocer.call('GET', `/cashbacks/for-merchant/${id}`)
    hidden.push(`"${body.updatedAt}"`)
  }
  assert.equal(tagOf(await alpha.call('GET', `/portal/cashbacks/${id}/reconciliation`)), seen)
  // This request is refused in any case. Only the answer to the tag could differ.
  const tried = async (tag: string) => {
    const headers = { 'if-match': tag }
    return (await alpha.call('POST', `/portal/cashbacks/${id}/compensation-received`, { headers })).status
  }
  for (const tag of [...hidden, '"1"', '"2"', '"3"', '"4"', '"5"']) assert.equal(await tried(tag), 412, tag)
  assert.equal(await tried(seen), 400)
})

test('the quoted updatedAt names one version only, even if the clock goes back', async () => {
  await platform.call('POST', '/sandbox/clock', { body: { advance: 'P1D' } })
  const id = await create()
  await platform.call('DELETE', '/sandbox/clock')
  const first = await listTag(sides.alpha, id)
  assert.equal((await edit(id, { percentage: 20 })).status, 200)
  const second = await listTag(sides.alpha, id)
  assert.notEqual(second, first)
  assertRefused(await decide(sides.alpha, 'confirm', id, first), 412)
  assert.equal((await decide(sides.alpha, 'confirm', id, second)).status, 201)
})

test('a tag that the campaign never had is refused, and * takes any version', async () => {
  const id = await create()
  for (const never of ['"0"', '"999"', '"2020-01-01T00:00:00.000Z"', 'W/"2"', '"abc"', '2'])
    assertRefused(await decide(sides.alpha, 'confirm', id, never), 412)
  assert.equal((await decide(sides.alpha, 'confirm', id, '*')).status, 201)
})

test('an edit and a confirmation at the same time: no bank agrees to what it has not seen', async () => {
  for (let round = 0; round < 10; round++) {
    const id = await create()
    const seen = await bankTag(sides.alpha, id)
    const [confirmed, edited] = await together(
      round - 5,
      () => decide(sides.alpha, 'confirm', id, seen),
      () => edit(id, { percentage: 20 }),
    )
    const statuses = [confirmed.status, edited.status]
    // Either the confirmation comes first and fixes the terms, or the edit comes first and the bank must read them
    // again.
    assert.ok(
      [
        [201, 400],
        [412, 200],
      ].some(pair => String(pair) === String(statuses)),
      String(statuses),
    )
  }
})

describe('the merchant', () => {
  test('is refused with If-None-Match: * on what exists', async () => {
    const id = await create()
    const headers = { 'if-none-match': '*' }
    const path = `/cashbacks/for-merchant/${id}`
    assertRefused(await sides.grocer.call('PATCH', path, { headers, body: { description: 'x' } }), 412)
    assertRefused(await sides.grocer.call('DELETE', path, { headers }), 412)
    assert.equal((await sides.grocer.call('GET', path)).body.status, 'awaitingBankApproval')
  })

  test('forms a segment only for the version that it knows', async () => {
    const id = await create()
    const seen = await merchantTag(id)
    assert.equal((await decide(sides.alpha, 'reject', id)).status, 201)
    const put = async (tag: string) => {
      const { raw, headers } = await formOf({ file: 'customerId\nC-1\n' })
      return sides.grocer.call('PUT', `/portal/cashbacks/${id}/segment`, {
        raw,
        headers: { ...headers, 'if-match': tag },
      })
    }
    assertRefused(await put(seen), 412)
    assert.equal((await sides.grocer.call('GET', `/portal/cashbacks/${id}/segment`)).body.formedAt, null)
    assert.equal((await put(await merchantTag(id))).status, 200)
  })

  test('launches only the version that it knows', async () => {
    const id = await create()
    assert.equal((await decide(sides.alpha, 'confirm', id)).status, 201)
    const launch = (tag: string) =>
      sides.grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`, { headers: { 'if-match': tag } })
    const seen = await merchantTag(id)
    assert.equal((await decide(sides.beta, 'confirm', id)).status, 201)
    assertRefused(await launch(seen), 412)
    assert.equal((await launch(await merchantTag(id))).status, 201)
  })
})

describe('who has not seen the change that makes the request impossible is told of the change', () => {
  const launch = (id: string, tag: string) =>
    sides.grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`, { headers: { 'if-match': tag } })
  const remove = (id: string, tag: string) =>
    sides.grocer.call('DELETE', `/cashbacks/for-merchant/${id}`, { headers: { 'if-match': tag } })

  test('a launch after a launch, and a confirmation after a launch', async () => {
    const id = await create()
    assert.equal((await decide(sides.alpha, 'confirm', id)).status, 201)
    const [seen, seenByBeta] = [await merchantTag(id), await listTag(sides.beta, id)]
    assert.equal((await launch(id, seen)).status, 201)
    assertRefused(await launch(id, seen), 412)
    assertRefused(await launch(id, await merchantTag(id)), 400)
    assertRefused(await decide(sides.beta, 'confirm', id, seenByBeta), 412)
    assertRefused(await decide(sides.beta, 'confirm', id, await listTag(sides.beta, id)), 400)
  })

  test('a launch after an edit, when no bank has approved', async () => {
    const id = await create()
    const seen = await merchantTag(id)
    assert.equal((await edit(id, { description: 'x' })).status, 200)
    assertRefused(await launch(id, seen), 412)
    assertRefused(await launch(id, await merchantTag(id)), 400)
  })

  test('a deletion after the start was moved near, and one that is repeated', async () => {
    const id = await create()
    const seen = await merchantTag(id)
    const dateFrom = new Date(Date.now() + 24 * 3_600_000).toISOString()
    assert.equal((await edit(id, { dateFrom })).status, 200)
    assertRefused(await remove(id, seen), 412)
    assertRefused(await remove(id, await merchantTag(id)), 400)
    const other = await create()
    const before = await merchantTag(other)
    assert.equal((await remove(other, before)).status, 200)
    assert.equal((await remove(other, before)).status, 200, 'repeated')
  })

  test('a segment after a deletion', async () => {
    const id = await create()
    const seen = await merchantTag(id)
    assert.equal((await remove(id, seen)).status, 200)
    const { raw, headers } = await formOf({ file: 'customerId\nC-1\n' })
    const path = `/portal/cashbacks/${id}/segment`
    assertRefused(await sides.grocer.call('PUT', path, { raw, headers: { ...headers, 'if-match': seen } }), 412)
  })
})

describe('after the period', () => {
  const post = (partner: Partner, path: string, tag: string) =>
    partner.call('POST', `/portal/cashbacks/${path}`, { headers: { 'if-match': tag } })

  test('accept, settle, pay and receive take only the version that was read', async () => {
    const { grocer, alpha, beta } = sides
    const campaign = await endedCampaign(sides, [alpha, beta])
    const { id } = campaign
    const ofBank = `${id}/banks/${ids.alpha}`
    const report = reportOf(line(campaign, 'T-1'))
    assert.equal((await uploadBank(alpha, id, report)).status, 201)
    const seen = await merchantTag(id)
    const ofReports = tagOf(await grocer.call('GET', `/portal/cashbacks/${id}/reconciliation`))
    assert.equal(ofReports, seen)
    assert.equal((await uploadBank(beta, id, report)).status, 201)
    assertRefused(await post(grocer, `${ofBank}/accept-report`, seen), 412)
    assertRefused(await post(grocer, `${ofBank}/settle`, seen), 412)
    assertRefused(await post(grocer, `${ofBank}/settle`, await merchantTag(id)), 400)
    assert.equal((await post(grocer, `${ofBank}/accept-report`, await merchantTag(id))).status, 200)
    assert.equal((await post(grocer, `${ofBank}/accept-report`, seen)).status, 200, 'repeated')
    assertRefused(await post(grocer, `${ofBank}/settle`, seen), 412)
    assert.equal((await post(grocer, `${ofBank}/settle`, await merchantTag(id))).status, 200)
    const ofBeta = `${id}/banks/${ids.beta}`
    for (const move of ['accept-report', 'settle'])
      assert.equal((await post(grocer, `${ofBeta}/${move}`, await merchantTag(id))).status, 200)
    assertRefused(await post(grocer, `${id}/compensation-paid`, seen), 412)
    assert.equal((await post(grocer, `${id}/compensation-paid`, await merchantTag(id))).status, 200)
    assertRefused(await post(alpha, `${id}/compensation-received`, '"1"'), 412)
    const paid = await bankTag(alpha, id)
    assert.equal((await post(beta, `${id}/compensation-received`, await bankTag(beta, id))).status, 200)
    assert.equal((await post(alpha, `${id}/compensation-received`, paid)).status, 200, 'another bank does not count')
  })

  test('nothing of this is asked of who sends no header', async () => {
    const { id } = await runningCampaign(sides, [sides.alpha])
    assert.equal((await edit(id, { description: 'x' })).status, 200)
  })
})
