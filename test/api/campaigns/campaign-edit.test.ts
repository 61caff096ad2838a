/** PATCH /cashbacks/for-merchant/:cashbackId: what is changed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertEdited, decide, editsOf, own, terminals } from '../../support/campaign-edits.ts'
import { describeStep, historyOf, launchCampaign, openPartners, type Partners } from '../../support/campaign-moves.ts'
import { assertRefused, campaignDirectory, createCampaign, ids, inDays } from '../../support/campaigns.ts'
import { changed } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let partners: Partners
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
})
after(() => platform.close())

const banksOf = (details: Record<string, any>): Record<string, string> =>
  Object.fromEntries(details.banks.map((bank: any) => [bank.id, bank.status]))
const { edit, read, assertNothingChanged, states } = editsOf(() => ({ platform, partners }))

describe('200, before any bank has approved: everything', () => {
  const values: Record<string, [unknown, unknown]> = {
    name: ['Зима', 'Зима'],
    description: ['d', 'd'],
    participationTerms: ['t', 't'],
    bannerSmall: ['https://x.example/s.png', 'https://x.example/s.png'],
    bannerBig: ['data:image/png;base64,aGk=', 'data:image/png;base64,aGk='],
    purchaseOnline: [false, false],
    purchaseOffline: [false, false],
    dateFrom: ['2030-01-01', '2030-01-01T00:00:00.000Z'],
    dateTo: ['2040-01-01T02:00:00+02:00', '2040-01-01T00:00:00.000Z'],
    minAmount: [0.01, 0.01],
    maxAmount: [9999.99, 9999.99],
    maxBudget: [0.1, 0.1],
    percentage: [7.5, 7.5],
    merchantCompensationPercentage: [0, 0],
    paymentSystemsId: [[ids.mastercard.toUpperCase()], [ids.mastercard]],
    merchantCategoryCode: [['5411'], ['5411']],
  }
  test('each field alone, and only that', async () => {
    const id = await createCampaign(platform, { dateTo: '2035-01-01' })
    for (const [field, [value, shown]] of Object.entries(values)) {
      const before = (await read(id)).body
      const after = assertEdited(await edit(id, { [field]: value }))
      assert.deepEqual({ ...before, [field]: shown, updatedAt: after.updatedAt }, after, field)
      assert.deepEqual((await read(id)).body, after)
    }
  })

  test('all at once; the answer is the campaign as it is now, with its ETag', async () => {
    const id = await createCampaign(platform)
    const body = Object.fromEntries(Object.entries(values).map(([field, [value]]) => [field, value]))
    const answer = await edit(id, { ...body, sku: ['a'], allProducts: false, countryCode: 'pl', ...own })
    const details = assertEdited(answer)
    for (const [field, [, shown]] of Object.entries(values)) assert.deepEqual(details[field], shown, field)
    assert.deepEqual(
      [details.sku, details.allProducts, details.countryId, details.country.code],
      [['a'], false, ids.PL, 'PL'],
    )
    assert.equal(details.terminals.length, 2)
    const later = await read(id)
    assert.deepEqual(later.body, details)
    assert.equal(later.headers.get('etag'), answer.headers.get('etag'))
  })

  test('banks are invited and no longer invited; who stays keeps its decision', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    await decide(partners.beta, id, 'reject')
    const details = assertEdited(await edit(id, { participantsIds: [ids.gamma, ids.beta] }))
    assert.deepEqual(banksOf(details), { [ids.beta]: 'declined', [ids.gamma]: 'pending' })
    const seen = (await partners.alpha.call('GET', '/cashbacks/for-bank')).body
    assert.equal(
      seen.some((one: any) => one.cashbackId === id),
      false,
    )
    const steps = (await historyOf(partners, id)).slice(-2)
    assert.deepEqual(steps.map(describeStep), ['bank uninvite: pending -> null', 'bank invite: null -> pending'])
  })

  test('lists may shrink, terminals too', async () => {
    const id = await createCampaign(platform, { ...own, sku: ['a', 'b'] })
    const details = assertEdited(await edit(id, { sku: ['b'], terminals: terminals('2') }))
    assert.deepEqual([details.sku, details.terminals.length, details.statistics.terminals], [['b'], 1, 1])
  })

  test('null clears an optional field', async () => {
    const id = await createCampaign(platform, {
      description: 'd',
      participationTerms: 't',
      bannerSmall: 'https://x.example/s.png',
      bannerBig: 'https://x.example/b.png',
      sku: ['a'],
      categoryId: ['c'],
      purchaseOnline: false,
      purchaseOffline: false,
      maxBudget: 1,
      merchantCategoryCode: ['5411'],
      terminals: terminals('1'),
    })
    const cleared = {
      description: null,
      participationTerms: null,
      bannerSmall: null,
      bannerBig: null,
      sku: [],
      categoryId: [],
      allProducts: true,
      purchaseOnline: true,
      purchaseOffline: true,
      maxBudget: null,
      merchantCategoryCode: null,
    }
    const nulls = Object.fromEntries(Object.keys(cleared).map(field => [field, null]))
    const details = assertEdited(await edit(id, { ...nulls, terminals: null }))
    for (const [field, value] of Object.entries(cleared)) assert.deepEqual(details[field], value, field)
    assertRefused(await edit(id, { terminalsPlatform: false }), 400, [
      'terminals must be a list of at least 1 when terminalsPlatform is false',
    ])
  })

  test('creatorId, createdByType and retailerId are ignored, whatever they hold', async () => {
    const id = await createCampaign(platform)
    const before = await read(id)
    const strange = [
      { creatorId: ids.voltshop, createdByType: 'bank', retailerId: ids.voltshop },
      { creatorId: null, createdByType: 7, retailerId: ['x'] },
    ]
    for (const body of strange) assertEdited(await edit(id, body))
    await assertNothingChanged(id, before)
    assert.equal(assertEdited(await edit(id, { ...strange[0], name: 'x' })).retailerId, ids.grocer)
  })

  test('a bank that was suspended since stays invited', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.gamma] })
    await platform.applyDirectory(
      changed(campaignDirectory, ['code: gamma, name: Gamma Bank', 'code: gamma, status: suspended, name: Gamma Bank']),
    )
    assertEdited(await edit(id, { participantsIds: [ids.gamma, ids.alpha], name: 'x' }))
    const other = await createCampaign(platform)
    assertRefused(
      await edit(other, { participantsIds: [ids.alpha, ids.gamma] }),
      400,
      /^participantsIds\.1 must be a connected/,
    )
    await platform.applyDirectory(campaignDirectory)
  })
})

describe('200, and nothing changes', () => {
  test('an empty edit has no new version', async () => {
    for (const { make } of Object.values(states)) {
      const id = await make()
      const before = await read(id)
      assert.deepEqual(assertEdited(await edit(id, {})), before.body)
      await assertNothingChanged(id, before)
    }
  })

  for (const [state, { make }] of Object.entries(states))
    test(`every field with its present value: ${state}`, async () => {
      const form = {
        participantsIds: [ids.alpha, ids.beta],
        name: 'Осінь',
        description: 'd',
        participationTerms: null,
        bannerSmall: null,
        bannerBig: 'https://x.example/b.png',
        sku: ['a', 'b'],
        categoryId: [],
        allProducts: false,
        purchaseOnline: true,
        purchaseOffline: false,
        dateFrom: inDays(platform, state === 'active' ? -2 : 10),
        dateTo: inDays(platform, 20),
        minAmount: 0.1,
        maxAmount: 100.5,
        maxBudget: null,
        percentage: 5.25,
        countryCode: 'ua',
        ...own,
        paymentSystemsId: [ids.visa, ids.mastercard],
        merchantCompensationPercentage: 60,
        merchantCategoryCode: ['5411', '5412'],
      }
      const id = await make(form)
      const before = await read(id)
      const again = {
        ...form,
        participantsIds: [ids.beta.toUpperCase(), ids.alpha],
        countryCode: 'UA',
        sku: ['b', 'a'],
        paymentSystemsId: [ids.mastercard, ids.visa.toUpperCase()],
        terminals: own.terminals.toReversed(),
      }
      for (const body of [form, again]) assertEdited(await edit(id, body))
      await assertNothingChanged(id, before)
    })
})

describe('200: the terminals that the platform’s own directory holds, sent back as they are shown', () => {
  for (const [state, { make }] of Object.entries(states))
    test(`nothing changes: ${state}`, async () => {
      for (const unseen of [null, terminals('own')]) {
        const id = await make({ terminalsPlatform: true, terminals: unseen })
        const before = await read(id)
        const shown = before.body.terminals
        assert.ok(shown.length > 0, 'the directory has terminals of the merchant')
        assertEdited(await edit(id, { terminalsPlatform: true, terminals: shown.toReversed() }))
        assertEdited(await edit(id, { terminals: unseen }))
        await assertNothingChanged(id, before)
      }
    })

  test('together with terminalsPlatform false they become the campaign’s own', async () => {
    const id = await createCampaign(platform, { terminalsPlatform: true })
    const shown = (await read(id)).body.terminals
    const details = assertEdited(await edit(id, { terminalsPlatform: false, terminals: shown }))
    assert.deepEqual([details.terminalsPlatform, details.terminals], [false, shown])
  })
})

describe('200: another list of terminals while readers get those of the platform’s own directory', () => {
  const seenBy = async (id: string) => {
    const list = await partners.alpha.call('GET', '/cashbacks/for-bank')
    return { tag: list.headers.get('etag'), campaign: list.body.find((one: any) => one.cashbackId === id) }
  }
  const updates = async (id: string): Promise<any[]> => {
    await partners.alpha.call('GET', '/partner/v1/events?after=now')
    const { body } = await partners.alpha.call('GET', '/partner/v1/events?limit=1000&type=campaign.updated')
    return body.data.filter(({ data }: any) => data.cashbackId === id).map(({ data }: any) => data)
  }

  test('is stored for later, and changes nothing that anybody sees', async () => {
    const id = await createCampaign(platform, { terminalsPlatform: true, terminals: terminals('own') })
    const [before, seen, steps] = [await read(id), await seenBy(id), (await historyOf(partners, id)).length]
    assert.deepEqual(assertEdited(await edit(id, { terminals: terminals('own', 'later') })), before.body)
    await assertNothingChanged(id, before)
    assert.deepEqual(await seenBy(id), seen)
    assert.equal((await historyOf(partners, id)).length, steps)
    const unchanged = { 'if-match': `"${seen.campaign.updatedAt}"` }
    assert.equal((await partners.alpha.call('POST', `/cashbacks/${id}/confirm`, { headers: unchanged })).status, 201)
    assert.deepEqual(await updates(id), [])
  })

  test('with other fields: only those are told', async () => {
    const id = await createCampaign(platform, { terminalsPlatform: true })
    assertEdited(await edit(id, { name: 'Зима', terminals: terminals('later') }))
    const [step] = (await historyOf(partners, id)).slice(-1)
    assert.deepEqual(Object.keys(step?.changes ?? {}), ['name'])
    const details = assertEdited(await edit(id, { terminalsPlatform: false }))
    assert.deepEqual(
      details.terminals.map((one: any) => one.terminal_id),
      ['later'],
    )
    assert.deepEqual(
      (await updates(id)).map(({ changedFields, terminalsAdded }) => [changedFields, terminalsAdded]),
      [
        [['name'], 0],
        [['terminalsPlatform'], 0],
      ],
    )
  })
})

describe('200, once a bank has approved', () => {
  for (const state of ['a bank has approved', 'awaitingMerchantApproval', 'approved', 'active'])
    test(`${state}: description, banners, and terminals by adding`, async () => {
      const id = await (states[state]?.make() ?? assert.fail())
      const details = assertEdited(
        await edit(id, {
          description: 'new',
          bannerSmall: 'https://x.example/s.png',
          bannerBig: null,
          terminals: terminals('3', '2', '1'),
        }),
      )
      assert.deepEqual([details.description, details.bannerSmall], ['new', 'https://x.example/s.png'])
      assert.deepEqual(details.terminals.map((one: any) => one.terminal_id).sort(), ['1', '2', '3'])
      const seen = (await partners.alpha.call('GET', '/cashbacks/for-bank')).body.find(
        (one: any) => one.cashbackId === id,
      )
      assert.equal(seen.terminals.length, 3)
    })

  test('a bank more while banks decide: they go on deciding', async () => {
    const id = await (states['a bank has approved']?.make() ?? assert.fail())
    const details = assertEdited(await edit(id, { participantsIds: [ids.gamma, ids.beta, ids.alpha] }))
    assert.equal(details.status, 'awaitingBankApproval')
    assert.deepEqual(banksOf(details), { [ids.alpha]: 'approved', [ids.beta]: 'pending', [ids.gamma]: 'pending' })
  })

  test('a bank more when it is the merchant’s turn: the campaign awaits the banks again', async () => {
    const id = await (states.awaitingMerchantApproval?.make() ?? assert.fail())
    const details = assertEdited(await edit(id, { participantsIds: [ids.alpha, ids.beta, ids.gamma] }))
    assert.equal(details.status, 'awaitingBankApproval')
    assert.deepEqual(banksOf(details), { [ids.alpha]: 'approved', [ids.beta]: 'declined', [ids.gamma]: 'pending' })
    assert.ok(
      (await historyOf(partners, id))
        .map(describeStep)
        .includes('campaign invite: awaitingMerchantApproval -> awaitingBankApproval'),
    )
  })
})

test('50,000 terminals and one more', async () => {
  const many = Array.from({ length: 49_999 }, (_, index) => ({ terminal_id: `T-${index}` }))
  const id = await launchCampaign(platform, partners, { terminalsPlatform: false, terminals: many })
  const details = assertEdited(await edit(id, { terminals: [...many, { terminal_id: 'one more' }] }))
  assert.equal(details.terminals.length, 50_000)
  assertRefused(
    await edit(id, { terminals: [...many, { terminal_id: 'one more' }, { terminal_id: 'and one' }] }),
    400,
    ['terminals must be a list of at most 50000'],
  )
})
