/** PATCH /cashbacks/for-merchant/:cashbackId. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  historyOf,
  launchCampaign,
  moveClock,
  openPartners,
  type Partners,
  told,
} from '../../support/campaign-moves.ts'
import {
  assertMerchantsOnly,
  assertRefused,
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  inDays,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { changed } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let partners: Partners
let grocer: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
  grocer = partners.grocer
})
after(() => platform.close())

const pathOf = (id: string): string => `/cashbacks/for-merchant/${id}`
const edit = (id: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  grocer.call('PATCH', pathOf(id), { body, headers })
const read = async (id: string): Promise<Answer> => {
  const answer = await grocer.call('GET', pathOf(id))
  assert.equal(answer.status, 200, answer.text)
  return answer
}
const assertEdited = (answer: Answer): Record<string, any> => {
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const decide = async (bank: Partner, id: string, decision: 'confirm' | 'reject' = 'confirm'): Promise<void> => {
  const answer = await bank.call('POST', `/cashbacks/${id}/${decision}`)
  assert.equal(answer.status, 201, answer.text)
}
const banksOf = (details: Record<string, any>): Record<string, string> =>
  Object.fromEntries(details.banks.map((bank: any) => [bank.id, bank.status]))
/** A refused edit leaves everything as it was. */
const assertNothingChanged = async (id: string, before: Answer): Promise<void> => {
  const now = await read(id)
  assert.deepEqual(now.body, before.body)
  assert.equal(now.headers.get('etag'), before.headers.get('etag'))
}

const terminals = (...names: string[]) => names.map(terminal_id => ({ terminal_id }))
const own = { terminalsPlatform: false, terminals: terminals('1', '2') }

/** A campaign in each state, and why most fields may not be changed there. */
const states: Record<string, { make(overrides?: Record<string, unknown>): Promise<string>; why: string }> = {
  'a bank has approved': {
    make: async overrides => {
      const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta], ...own, ...overrides })
      await decide(partners.alpha, id)
      return id
    },
    why: 'a bank has approved the campaign',
  },
  awaitingMerchantApproval: {
    make: async overrides => {
      const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta], ...own, ...overrides })
      await decide(partners.alpha, id)
      await decide(partners.beta, id, 'reject')
      return id
    },
    why: 'a bank has approved the campaign',
  },
  approved: {
    make: overrides => launchCampaign(platform, partners, { ...own, ...overrides }),
    why: 'the campaign is approved',
  },
  active: {
    make: async overrides => {
      const id = await launchCampaign(platform, partners, { dateFrom: inDays(platform, -1), ...own, ...overrides })
      await moveClock(platform, { advance: 'PT1S' })
      return id
    },
    why: 'the campaign is active',
  },
  deleted: {
    make: async overrides => {
      const id = await createCampaign(platform, { ...own, ...overrides })
      await grocer.call('DELETE', pathOf(id))
      return id
    },
    why: 'the campaign is deleted',
  },
}

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
    assert.deepEqual(steps.map(told), ['bank uninvite: pending -> null', 'bank invite: null -> pending'])
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
        .map(told)
        .includes('campaign invite: awaitingMerchantApproval -> awaitingBankApproval'),
    )
  })
})

describe('400', () => {
  const locked = {
    name: 'other',
    participationTerms: 'other',
    sku: ['other'],
    categoryId: ['other'],
    allProducts: false,
    purchaseOnline: false,
    purchaseOffline: false,
    dateFrom: '2031-01-01',
    dateTo: '2041-01-01',
    minAmount: 0.5,
    maxAmount: 99999,
    maxBudget: 5,
    percentage: 1,
    countryCode: 'PL',
    terminalsPlatform: true,
    paymentSystemsId: [ids.mastercard],
    merchantCompensationPercentage: 1,
    merchantCategoryCode: ['1234'],
  }
  const shown = { description: 'other', bannerSmall: 'https://o.example', bannerBig: 'https://o.example' }
  for (const [state, { make, why }] of Object.entries(states))
    test(`every field that may not change, at once, and nothing is applied: ${state}`, async () => {
      const id = await make()
      const before = await read(id)
      const mayGrow = state !== 'deleted'
      const mayInvite = why === 'a bank has approved the campaign'
      const fields: Record<string, unknown> = {
        ...locked,
        ...(!mayGrow && shown),
        ...(!mayInvite && { participantsIds: [ids.gamma] }),
      }
      const faults = Object.keys(fields).map(field => `${field} must be unchanged: ${why}`)
      assertRefused(await edit(id, { ...shown, ...fields }), 400, faults)
      await assertNothingChanged(id, before)
      for (const field of Object.keys(fields)) {
        const answer = await edit(id, { ...(mayGrow && shown), [field]: fields[field] })
        assertRefused(answer, 400)
        assert.ok(answer.body.message.includes(`${field} must be unchanged: ${why}`), answer.text)
      }
      await assertNothingChanged(id, before)
    })

  for (const state of ['a bank has approved', 'awaitingMerchantApproval', 'approved', 'active'])
    test(`terminals that are missing or other than before: ${state}`, async () => {
      const id = await (states[state]?.make() ?? assert.fail())
      const before = await read(id)
      const fault = (name: string) => [`terminals must be the present list and additions only: ${name} is missing`]
      assertRefused(await edit(id, { terminals: terminals('1', '3') }), 400, fault('2'))
      const renamed = [{ terminal_id: '1', terminal_name: 'other' }, { terminal_id: '2' }]
      assertRefused(await edit(id, { terminals: renamed }), 400, fault('1'))
      assertRefused(await edit(id, { terminals: [] }), 400, [
        ...fault('1'),
        'terminals must be a list of at least 1 when terminalsPlatform is false',
      ])
      await assertNothingChanged(id, before)
    })

  test('banks that are missing once one has approved', async () => {
    for (const state of ['a bank has approved', 'awaitingMerchantApproval']) {
      const id = await (states[state]?.make() ?? assert.fail())
      const before = await read(id)
      assertRefused(await edit(id, { participantsIds: [ids.alpha, ids.gamma] }), 400, [
        `participantsIds must be the present list and additions only: ${ids.beta} is missing`,
      ])
      await assertNothingChanged(id, before)
    }
  })

  const oneByOne: [string, Record<string, unknown>, string[]][] = [
    [
      'null for a required field',
      { name: null, minAmount: null, participantsIds: null, terminalsPlatform: null },
      [
        'name must be a string',
        'minAmount must be a number',
        'participantsIds must be an array',
        'terminalsPlatform must be a boolean',
      ],
    ],
    [
      'a typing error',
      { nmae: 'x', cashbackId: 'x', status: 'active' },
      ['nmae must be omitted', 'cashbackId must be omitted', 'status must be omitted'],
    ],
    ['no banks', { participantsIds: [] }, ['participantsIds must be a list of at least 1']],
    [
      'an unknown bank',
      { participantsIds: [ids.alpha, ids.closed] },
      ['participantsIds.1 must be a connected bank that the merchant does not exclude'],
    ],
    ['an unknown country', { countryCode: 'DE' }, ['countryCode must be a country of the platform']],
    [
      'an unknown payment system',
      { paymentSystemsId: [ids.alpha] },
      ['paymentSystemsId.0 must be a payment system of the platform'],
    ],
    ['a name of 28 characters', { name: 'x'.repeat(28) }, ['name must be shorter than or equal to 27 characters']],
    ['a tenth of a cent', { maxBudget: 0.001 }, ['maxBudget must be a number with at most 2 decimals']],
    ['the least above the present most', { minAmount: 5000.01 }, ['maxAmount must be at least minAmount']],
    ['the most below the present least', { maxAmount: 99.99 }, ['maxAmount must be at least minAmount']],
    ['an end before the present start', { dateTo: 'START' }, ['dateTo must be after dateFrom']],
    ['a start after the present end', { dateFrom: '2090-01-01' }, ['dateTo must be after dateFrom']],
    ['an end in the past', { dateFrom: '2026-01-01', dateTo: '2026-01-02' }, ['dateTo must be in the future']],
    [
      'SKUs while all products are meant',
      { sku: ['a'] },
      ['allProducts must be false when sku or categoryId is given'],
    ],
    [
      'own terminals without a list',
      { terminalsPlatform: false },
      ['terminals must be a list of at least 1 when terminalsPlatform is false'],
    ],
    ['a terminal twice', { terminals: terminals('a', 'a') }, ['terminals.1.terminal_id must be unique in the list']],
    [
      'several at once',
      { x: 1, name: ' ', minAmount: 6000, countryCode: 'DE', dateTo: 'soon' },
      [
        'x must be omitted',
        'name must be a text with at least one character that is not a space',
        'maxAmount must be at least minAmount',
        'countryCode must be a country of the platform',
        'dateTo must be an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999',
      ],
    ],
  ]
  for (const [name, body, faults] of oneByOne)
    test(name, async () => {
      const id = await createCampaign(platform)
      const before = await read(id)
      const given = body.dateTo === 'START' ? { dateTo: before.body.dateFrom } : body
      assertRefused(await edit(id, { description: 'new', ...given }), 400, faults)
      await assertNothingChanged(id, before)
    })

  test('a field that is locked and one that is wrong, at once', async () => {
    const id = await (states.approved?.make() ?? assert.fail())
    assertRefused(await edit(id, { name: 'other', bannerBig: 'x', percentage: 101, oops: 1 }), 400, [
      'name must be unchanged: the campaign is approved',
      'percentage must be unchanged: the campaign is approved',
      'percentage must be at most 100',
      'bannerBig must be an http or https URL of at most 2048 characters, or a data:image/...;base64, URI of at most 256 KiB',
      'oops must be omitted',
    ])
  })

  test('an id that is no UUID, a query, no object', async () => {
    const id = await createCampaign(platform)
    assertRefused(await edit('x', {}), 400, ['cashbackId must be a UUID'])
    assertRefused(await grocer.call('PATCH', `${pathOf(id)}?force=1`, { body: {} }), 400, ['force must be omitted'])
    for (const raw of ['', 'null', '[]', '7'])
      assertRefused(await grocer.call('PATCH', pathOf(id), { raw }), 400, /body must be an object/)
  })
})

describe('412, If-Match', () => {
  test('a stale ETag changes nothing; the present one, any of a list, and * go on', async () => {
    const id = await createCampaign(platform)
    const stale = (await read(id)).headers.get('etag') ?? ''
    assertEdited(await edit(id, { description: '1' }, { 'if-match': stale }))
    const before = await read(id)
    const fresh = before.headers.get('etag') ?? ''
    assert.notEqual(fresh, stale)
    for (const header of [stale, `${stale}, "x"`, '""', `W/${fresh}`, 'x', fresh.replaceAll('"', '')])
      assertRefused(await edit(id, { description: '2' }, { 'if-match': header }), 412, /read it again/)
    await assertNothingChanged(id, before)
    assertRefused(await edit(id, {}, { 'if-match': stale }), 412)
    let tag = fresh
    for (const header of [() => tag, () => `"x", W/"y" , ${tag}`, () => '*', () => `W/${tag}, ${tag}`]) {
      const answer = await edit(id, { description: header() }, { 'if-match': header() })
      assertEdited(answer)
      tag = answer.headers.get('etag') ?? ''
    }
  })

  test('a bank’s decision makes it stale too', async () => {
    const id = await createCampaign(platform)
    const stale = (await read(id)).headers.get('etag') ?? ''
    await decide(partners.alpha, id)
    assertRefused(await edit(id, { description: 'x' }, { 'if-match': stale }), 412)
  })

  test('without the header the last write wins', async () => {
    const id = await createCampaign(platform)
    for (const description of ['1', '2']) assertEdited(await edit(id, { description }))
    assert.equal((await read(id)).body.description, '2')
  })

  test('faults of form and whose it is are told first', async () => {
    const id = await createCampaign(platform)
    const stale = { 'if-match': '"0"' }
    for (const body of [{ name: '' }, { minAmount: 5, maxAmount: 1 }]) assertRefused(await edit(id, body, stale), 400)
    const voltshop = await openMerchant(platform, 'voltshop')
    assertRefused(await voltshop.call('PATCH', pathOf(id), { body: {}, headers: stale }), 403)
    assertRefused(await edit(randomUUID(), {}, stale), 404)
  })
})

describe('403 and 404', () => {
  test('another merchant’s, a bank’s, an unknown campaign; but a faulty form first', async () => {
    const id = await createCampaign(platform)
    const voltshop = await openMerchant(platform, 'voltshop')
    assertRefused(
      await voltshop.call('PATCH', pathOf(id), { body: { name: 'x' } }),
      403,
      'The campaign belongs to another merchant',
    )
    const ofBank = await createBankCampaign(platform, partners.alpha)
    for (const body of [{}, { description: 'x' }]) assertRefused(await edit(ofBank, body), 403, /only its author/)
    assertRefused(await edit(randomUUID(), {}), 404, 'The campaign was not found')
    for (const [partner, cashbackId] of [
      [voltshop, id],
      [grocer, ofBank],
      [grocer, randomUUID()],
    ] as const)
      for (const [body, fault] of [
        [{ name: '' }, 'name must be a text with at least one character that is not a space'],
        [{ minAmount: 5, maxAmount: 1 }, 'maxAmount must be at least minAmount'],
        [{ dateFrom: '2990-01-02', dateTo: '2990-01-01' }, 'dateTo must be after dateFrom'],
        [{ allProducts: true, sku: ['a'] }, 'allProducts must be false when sku or categoryId is given'],
      ] as const)
        assertRefused(await partner.call('PATCH', pathOf(cashbackId), { body }), 400, [fault])
  })

  test('merchants, and no viewer', async () => {
    const id = await createCampaign(platform)
    await assertMerchantsOnly(platform, {
      isChange: true,
      statusFor: 200,
      call: partner =>
        platform.call('PATCH', pathOf(id), { token: partner?.token ?? null, body: { description: 'x' } }),
    })
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
