/**
 * How reports can differ from the terms and from each other, to the cent (contract/reconciliation.md, "Differences").
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { differenceKinds } from '../../../src/reconciliation/differences.ts'
import { campaignDirectory, ids } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import {
  countsOf,
  type Ended,
  endedCampaign,
  line,
  merchantHeader,
  openSides,
  reconciliationOf,
  reportOf,
  runningCampaign,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
})
after(() => platform.close())

type Item = { kind: string; transactionId: string; expected: string | null; found: string | null }

/**
 * Uploads a bank's report, without one of the merchant. Returns the terms that its lines violate, and the expected
 * compensation for the other lines.
 */
async function reported(overrides: Record<string, unknown>, linesOf: (campaign: Ended) => string[]) {
  const campaign = await endedCampaign(sides, [sides.alpha], overrides)
  const answer = await uploadBank(sides.alpha, campaign.id, reportOf(...linesOf(campaign)))
  assert.equal(answer.status, 201, answer.text)
  const told = await reconciliationOf(sides.alpha, campaign.id)
  const { items, ...differences } = told.differences
  assert.deepEqual(answer.body.differences, differences)
  assert.deepEqual(Object.keys(differences.byKind), [...differenceKinds])
  assert.equal(differences.total, items.length)
  assert.equal(told.matched, null)
  return {
    campaign,
    expectedCompensation: told.expectedCompensation,
    counts: countsOf(differences),
    found: items.map(({ kind, transactionId, expected, found }: Item) => [kind, transactionId, expected, found]),
    items,
  }
}

const at = (instant: string, plusMs: number): string => new Date(Date.parse(instant) + plusMs).toISOString()

suite('against the terms', () => {
  test('the period includes its first instant and excludes its last, whatever the zone', async () => {
    const inZone = (instant: string) => `${at(instant, 3 * 3_600_000).slice(0, -1)}+03:00`
    const { found, campaign, expectedCompensation } = await reported({}, ({ dateFrom, dateTo, ...campaign }) => {
      const made = (id: string, when: string) => line({ ...campaign, dateFrom, dateTo }, id, { at: when })
      return [
        made('first', dateFrom),
        made('first in Kyiv', inZone(dateFrom)),
        made('before', at(dateFrom, -1)),
        made('last', at(dateTo, -1)),
        made('last but finer', `${at(dateTo, -1).slice(0, -1)}999999Z`),
        made('end', dateTo),
        made('end in Kyiv', inZone(dateTo)),
      ]
    })
    const period = `${campaign.dateFrom}/${campaign.dateTo}`
    assert.deepEqual(found, [
      ['outside-period', 'before', period, at(campaign.dateFrom, -1)],
      ['outside-period', 'end', period, campaign.dateTo],
      ['outside-period', 'end in Kyiv', period, campaign.dateTo],
    ])
    assert.equal(expectedCompensation, 24)
  })

  test('terminals of the platform’s directory, compared letter by letter', async () => {
    const { found } = await reported({}, campaign =>
      ['T-0001', 'T-0002', 't-0001', 'T-0001 ', 'V-0001'].map((terminalId, n) =>
        line(campaign, `tx-${n}`, { terminalId }),
      ),
    )
    assert.deepEqual(found, [
      ['unknown-terminal', 'tx-2', null, 't-0001'],
      ['unknown-terminal', 'tx-3', null, 'T-0001 '],
      ['unknown-terminal', 'tx-4', null, 'V-0001'],
    ])
  })

  suite('a terminal that leaves the platform’s directory', () => {
    const terminalIds = ['T-0001', 'T-0002']
    /** Applies the grocer's terminals anew. */
    async function list(...listed: string[]) {
      const merchant = { code: 'grocer', name: 'Гросер', terminals: listed.map(terminalId => ({ terminalId })) }
      const answer = await platform.call('POST', '/admin/directory', {
        token: platform.config.operatorKey,
        body: { directory: JSON.stringify({ merchants: [merchant] }), files: {} },
      })
      assert.equal(answer.status, 200, answer.text)
    }
    const now = () => platform.platform.deps.campaigns.clock.now().toISOString()
    const advance = () => platform.call('POST', '/sandbox/clock', { body: { advance: 'PT10M' } })
    const kept = () =>
      platform.platform.database.query('select terminal_id as id from removed_terminals order by terminal_id')
    const finishAll = () => platform.platform.database.execute(`update campaigns set status = 'completed'`)
    beforeEach(() => list(...terminalIds))
    after(() => list(...terminalIds))

    /** Uploads a report of the bank, again if there is one. Returns the compensation and the transactions at unknown terminals. */
    async function again(campaign: Ended, report: string) {
      const { reports } = await reconciliationOf(sides.alpha, campaign.id)
      const emptied = await uploadMerchant(sides.grocer, campaign.id, reportOf())
      assert.equal(emptied.status, reports.length > 0 ? 201 : 400, emptied.text)
      const answer = await uploadBank(sides.alpha, campaign.id, report)
      assert.equal(answer.status, 201, answer.text)
      const { differences, expectedCompensation } = await reconciliationOf(sides.alpha, campaign.id)
      const unknown = differences.items.filter(({ kind }: Item) => kind === 'unknown-terminal')
      return [expectedCompensation, ...unknown.map(({ transactionId }: Item) => transactionId)]
    }

    test('counts for the purchases made before, also when the report comes later', async () => {
      const campaign = await endedCampaign(sides, [sides.alpha], { merchantCompensationPercentage: 100 })
      const report = reportOf(...terminalIds.map((terminalId, n) => line(campaign, `tx-${n}`, { terminalId })))
      assert.deepEqual(await again(campaign, report), [20])
      await list('T-0001')
      assert.deepEqual(await again(campaign, report), [20])
    })

    test('is not shown any more, and never counts for a later campaign', async () => {
      await list('T-0001')
      const { campaign, found } = await reported({}, ended => [line(ended, 'a', { terminalId: 'T-0002' })])
      assert.deepEqual(found, [['unknown-terminal', 'a', null, 'T-0002']])
      const { body } = await sides.alpha.call('GET', `/portal/cashbacks/${campaign.id}/terminals`)
      assert.deepEqual(
        body.data.map(({ terminal_id }: { terminal_id: string }) => terminal_id),
        ['T-0001'],
      )
    })

    test('is kept only while a campaign from before could need it, at most three years', async () => {
      await finishAll()
      await list('T-0001')
      assert.deepEqual(await kept(), [])
      await list(...terminalIds)
      await runningCampaign(sides, [sides.alpha])
      await list('T-0001')
      assert.deepEqual(await kept(), [{ id: 'T-0002' }])
      await platform.platform.database.execute(
        `update removed_terminals set removed_at = removed_at - interval '3 years 1 day'`,
      )
      await platform.platform.database.execute(`update campaigns set created_at = created_at - interval '5 years'`)
      await list('T-0001')
      assert.deepEqual(await kept(), [])
      await list('T-0002')
      assert.deepEqual(await kept(), [{ id: 'T-0001' }])
      await finishAll()
      await list('T-0002')
      assert.deepEqual(await kept(), [])
    })

    test('does not count for purchases after it has left, and counts again once it is listed again', async () => {
      const running = await runningCampaign(sides, [sides.alpha], { merchantCompensationPercentage: 100 })
      const before = now()
      await advance()
      await list('T-0001')
      const removed = now()
      await advance()
      const report = reportOf(
        line(running, 'a', { terminalId: 'T-0002', at: before }),
        line(running, 'b', { terminalId: 'T-0002', at: removed }),
        line(running, 'c', { terminalId: 'T-0001', at: removed }),
      )
      await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1H' } })
      assert.deepEqual(await again(running, report), [20, 'b'])
      await list('T-0001', 'T-0003')
      assert.deepEqual(await again(running, report), [20, 'b'])
      await list(...terminalIds)
      assert.deepEqual(await again(running, report), [30])
      // Resetting the clock turns it back. The second removal counts all the same, and its time is not before the first.
      await platform.call('DELETE', '/sandbox/clock')
      await list('T-0001')
      assert.deepEqual(await again(running, report), [20, 'b'])
    })
  })

  test('the campaign’s own terminals', async () => {
    const terminals = [{ terminal_id: 'Каса "1"' }, { terminal_id: 'X\\2' }]
    const { found } = await reported({ terminalsPlatform: false, terminals }, campaign => [
      line(campaign, 'a', { terminalId: '"Каса ""1"""' }),
      line(campaign, 'b', { terminalId: 'X\\2' }),
      line(campaign, 'c', { terminalId: 'T-0001' }),
    ])
    assert.deepEqual(found, [['unknown-terminal', 'c', null, 'T-0001']])
  })

  test('amounts from minAmount to maxAmount, both included', async () => {
    const { found } = await reported({ minAmount: 100, maxAmount: 5000.5 }, campaign => [
      line(campaign, 'least', { amount: '100', cashback: '5' }),
      line(campaign, 'less', { amount: '99.99', cashback: '5.00' }),
      line(campaign, 'most', { amount: '5000.50', cashback: '250.03' }),
      line(campaign, 'more', { amount: '5000.51', cashback: '250.03' }),
    ])
    assert.deepEqual(found, [
      ['amount-out-of-range', 'less', '100.00..5000.50', '99.99'],
      ['amount-out-of-range', 'more', '100.00..5000.50', '5000.51'],
    ])
  })

  test('cashback is rounded half up to 2 decimals, exactly', async () => {
    const cases: [number, string, string, string][] = [
      // percentage, amount, right cashback, wrong cashback
      [5, '0.10', '0.01', '0.00'],
      [5, '0.09', '0.00', '0.01'],
      [5, '1.10', '0.06', '0.05'],
      [0.5, '201.00', '1.01', '1.00'],
      [0.5, '4999.00', '25.00', '24.99'],
      [33.333, '150.00', '50.00', '49.99'],
      [2.675, '100.00', '2.68', '2.67'],
      [100, '4999.99', '4999.99', '5000.00'],
      [0, '200.00', '0.00', '0.01'],
      [12.5, '0.04', '0.01', '0.00'],
      [0.000001, '5000.00', '0.00', '0.01'],
    ]
    for (const percentage of new Set(cases.map(([percentage]) => percentage))) {
      const own = cases.filter(([of]) => of === percentage)
      const { found } = await reported({ percentage, minAmount: 0 }, campaign =>
        own.flatMap(([, amount, right, wrong]) => [
          line(campaign, `right ${amount}`, { amount, cashback: right }),
          line(campaign, `wrong ${amount}`, { amount, cashback: wrong }),
        ]),
      )
      assert.deepEqual(
        found,
        own.map(([, amount, right, wrong]) => ['wrong-cashback', `wrong ${amount}`, right, wrong]),
        `${percentage} %`,
      )
    }
  })

  test('amounts beyond what numbers of JavaScript hold exactly', async () => {
    const amounts = { minAmount: 0, maxAmount: 9_999_999_999.99, percentage: 33.33 }
    const { found } = await reported(amounts, campaign => [
      line(campaign, 'right', { amount: '9999999999.99', cashback: '3333000000.00' }),
      line(campaign, 'wrong', { amount: '9999999999.99', cashback: '3332999999.99' }),
    ])
    assert.deepEqual(found, [['wrong-cashback', 'wrong', '3333000000.00', '3332999999.99']])
  })

  test('if a report names a transaction several times, the first line counts', async () => {
    const { found, items, expectedCompensation } = await reported({}, campaign => [
      line(campaign, 'a'),
      line(campaign, 'b'),
      line(campaign, 'a'),
      line(campaign, 'A'),
      line(campaign, 'a', { amount: '300', cashback: '15' }),
    ])
    assert.deepEqual(found, [
      ['repeated-transaction', 'a', null, 'line 2'],
      ['repeated-transaction', 'a', null, 'line 2'],
    ])
    assert.deepEqual(
      items.map(({ bankLine, merchantLine }: Record<string, number | null>) => [bankLine, merchantLine]),
      [
        [4, null],
        [6, null],
      ],
    )
    assert.equal(expectedCompensation, 18)
  })

  test('the budget is spent in the order of the file, to the last cent, by lines that break nothing else', async () => {
    const { found, expectedCompensation } = await reported({ maxBudget: 30 }, campaign => [
      line(campaign, '1'),
      line(campaign, 'elsewhere', { terminalId: 'nowhere' }),
      line(campaign, '2'),
      line(campaign, '2'),
      line(campaign, '3'),
      line(campaign, '4', { amount: '100', cashback: '5' }),
      line(campaign, '5'),
    ])
    assert.deepEqual(found, [
      ['unknown-terminal', 'elsewhere', null, 'nowhere'],
      ['repeated-transaction', '2', null, 'line 4'],
      ['budget-exceeded', '4', '30.00', '35.00'],
      ['budget-exceeded', '5', '30.00', '45.00'],
    ])
    assert.equal(expectedCompensation, 18)
  })

  test('a line may break several terms, and is told once for each', async () => {
    const { found, counts, expectedCompensation } = await reported({}, campaign => [
      line(campaign, 'a'),
      line(campaign, 'a', { terminalId: 'nowhere', at: campaign.dateTo, amount: '1', cashback: '7' }),
    ])
    assert.deepEqual(
      found.map(([kind]: string[]) => kind),
      ['outside-period', 'unknown-terminal', 'amount-out-of-range', 'wrong-cashback', 'repeated-transaction'],
    )
    assert.equal(counts['budget-exceeded'], undefined)
    assert.equal(expectedCompensation, 6)
  })

  test('the expected compensation is the merchant’s share, rounded half up once at the end', async () => {
    const tiny = (campaign: Ended) =>
      ['a', 'b', 'c'].map(id => line(campaign, id, { amount: '0.20', cashback: '0.01' }))
    const shares: [number, number][] = [
      [50, 0.02],
      [49.99, 0.01],
      [100, 0.03],
      [16.66, 0],
      [16.67, 0.01],
      [0, 0],
    ]
    for (const [merchantCompensationPercentage, share] of shares) {
      const { expectedCompensation } = await reported({ minAmount: 0, merchantCompensationPercentage }, tiny)
      assert.equal(expectedCompensation, share, `${merchantCompensationPercentage} %`)
    }
  })

  test('a report without lines is a report: nothing is to be compensated', async () => {
    const { found, expectedCompensation } = await reported({}, () => [])
    assert.deepEqual(found, [])
    assert.equal(expectedCompensation, 0)
  })
})

suite('between the two reports', () => {
  const merchantReport = (...lines: string[]) => [merchantHeader, ...lines].join('\n')

  test('matched, with another amount, and in one of them only', async () => {
    const { alpha, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const own = (id: string, amount = '200') => `${id},T-0002,${campaign.at},${amount}`
    await uploadBank(alpha, campaign.id, reportOf(...['a', 'b', 'c', 'd'].map(id => line(campaign, id))))
    const answer = await uploadMerchant(
      grocer,
      campaign.id,
      merchantReport(own('e'), own('d', '200.01'), own('a'), own('b', '200.0'), own('A')),
    )
    assert.equal(answer.status, 201, answer.text)
    const told = await reconciliationOf(grocer, campaign.id)
    assert.deepEqual(told.differences.items, [
      {
        kind: 'only-in-bank-report',
        transactionId: 'c',
        bankLine: 4,
        merchantLine: null,
        expected: null,
        found: '200.00',
      },
      { kind: 'amount-differs', transactionId: 'd', bankLine: 5, merchantLine: 3, expected: '200.01', found: '200.00' },
      {
        kind: 'only-in-merchant-report',
        transactionId: 'e',
        bankLine: null,
        merchantLine: 2,
        expected: '200.00',
        found: null,
      },
      {
        kind: 'only-in-merchant-report',
        transactionId: 'A',
        bankLine: null,
        merchantLine: 6,
        expected: '200.00',
        found: null,
      },
    ])
    assert.equal(told.matched, 2)
    const { items, ...totals } = told.differences
    assert.deepEqual(totals, answer.body.differences)
    assert.equal(told.expectedCompensation, 24, 'the merchant’s report does not change what its bank accrued')
  })

  test('the merchant’s lines are held against the terms too, behind the bank’s, but spend no budget', async () => {
    const { alpha, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha], { maxBudget: 10 })
    await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'a'), line(campaign, 'b', { terminalId: 'nowhere' })))
    const lines = [
      line(campaign, 'a'),
      line(campaign, 'b', { cashback: '' }),
      line(campaign, 'c', { at: campaign.dateTo }),
      line(campaign, 'a', { cashback: '10.01' }),
    ]
    await uploadMerchant(grocer, campaign.id, reportOf(...lines))
    const { differences, matched } = await reconciliationOf(grocer, campaign.id)
    assert.deepEqual(
      differences.items.map(({ kind, bankLine, merchantLine }: Record<string, unknown>) => [
        kind,
        bankLine,
        merchantLine,
      ]),
      [
        ['unknown-terminal', 3, null],
        ['outside-period', null, 4],
        ['only-in-merchant-report', null, 4],
        ['wrong-cashback', null, 5],
        ['repeated-transaction', null, 5],
      ],
    )
    assert.equal(matched, 2)
  })

  test('an updated report of the bank takes the place of its first one; both stay listed', async () => {
    const { alpha, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha])
    await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'a'), line(campaign, 'b', { cashback: '9' })))
    await uploadMerchant(grocer, campaign.id, merchantReport(`b,T-0001,${campaign.at},200`))
    const answer = await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'b'), line(campaign, 'c')))
    assert.deepEqual(countsOf(answer.body.differences), { 'only-in-bank-report': 1 })
    const told = await reconciliationOf(alpha, campaign.id)
    assert.deepEqual([told.matched, told.expectedCompensation], [1, 12])
    assert.deepEqual(
      told.reports.map(({ side, version }: Record<string, unknown>) => `${side} ${version}`),
      ['bank 1', 'merchant 1', 'bank 2'],
    )
    const [left] = await platform.platform.database.query<{ lines: number; differences: number }>(
      `select (select count(*) from report_lines l join reports r using (report_id) where r.cashback_id = $1) as lines,
         (select count(*) from report_differences d join reports r using (report_id) where r.cashback_id = $1) as differences`,
      [campaign.id],
    )
    assert.deepEqual(
      left,
      { lines: 3, differences: 1 },
      'only the latest report of each side keeps its lines and differences',
    )
  })

  test('if a report repeats a transaction, the first line is matched, whichever side uploads last', async () => {
    const { alpha, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const twice = reportOf(line(campaign, 'a'), line(campaign, 'a', { amount: '300', cashback: '15' }))
    await uploadBank(alpha, campaign.id, twice)
    await uploadMerchant(grocer, campaign.id, reportOf(line(campaign, 'a')))
    const first = await reconciliationOf(grocer, campaign.id)
    assert.deepEqual([first.matched, countsOf(first.differences)], [1, { 'repeated-transaction': 1 }])
    await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'a')))
    await uploadMerchant(grocer, campaign.id, twice)
    await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'a'), line(campaign, 'b')))
    const last = await reconciliationOf(grocer, campaign.id)
    assert.deepEqual(
      [last.matched, countsOf(last.differences)],
      [1, { 'repeated-transaction': 1, 'only-in-bank-report': 1 }],
    )
  })

  test('two banks’ reports never meet', async () => {
    const { alpha, beta, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha, beta], { maxBudget: 10 })
    await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'a')))
    await uploadBank(beta, campaign.id, reportOf(line(campaign, 'a'), line(campaign, 'b')))
    await uploadMerchant(grocer, campaign.id, merchantReport(`x,T-0001,${campaign.at},200`))
    const [ofAlpha, ofBeta] = [
      await reconciliationOf(grocer, campaign.id),
      await reconciliationOf(grocer, campaign.id, ids.beta),
    ]
    assert.deepEqual(countsOf(ofAlpha.differences), { 'only-in-bank-report': 1, 'only-in-merchant-report': 1 })
    assert.deepEqual(countsOf(ofBeta.differences), { 'budget-exceeded': 1 })
    assert.deepEqual([ofAlpha.expectedCompensation, ofBeta.expectedCompensation], [6, 6])
  })
})

test('the kinds are the same in the code and in the database, in the same order', async () => {
  const rows = await platform.platform.database.query<{ kind: string }>(
    `select unnest(enum_range(null::difference_kind))::text as kind`,
  )
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    [...differenceKinds],
  )
})
