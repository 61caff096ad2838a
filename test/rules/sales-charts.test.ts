/** The charts and sums that the portal makes of a bank’s sales figures. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { endedByDay, onlyTariff, soldByDay, withTotals } from '../../portal/src/bank/sales-figures.ts'

suite('figures of the sales', () => {
  const counts = { confirmed: 0, cancelled: 0, expired: 0, amounts: [] }
  const day = (name: string, tariffCode: string, some: object) => ({
    day: name,
    operatorCode: 'kyivstar',
    tariffCode,
    ...counts,
    ...some,
  })
  const sales = {
    timeZone: 'Europe/Kyiv',
    from: '2026-03-28',
    to: '2026-03-30',
    days: [
      day('2026-03-28', 'a', { confirmed: 2, amounts: [{ currency: 'UAH', amount: 0.1 }] }),
      day('2026-03-30', 'a', { confirmed: 1, cancelled: 3, amounts: [{ currency: 'UAH', amount: 0.2 }] }),
      day('2026-03-30', 'b', { confirmed: 4, expired: 5, amounts: [{ currency: 'EUR', amount: 1 }] }),
    ],
    totals: counts,
  }
  const names = {
    labelOf: (name: string) => name,
    nameOf: ({ tariffCode }: { tariffCode: string }) => tariffCode.toUpperCase(),
    othersName: 'Others',
  }

  test('every day is there, the most sold tariff first', () => {
    assert.deepEqual(soldByDay(sales, names), {
      series: [
        { name: 'tariff0', label: 'B' },
        { name: 'tariff1', label: 'A' },
      ],
      points: [
        { label: '2026-03-28', tariff1: 2 },
        { label: '2026-03-29' },
        { label: '2026-03-30', tariff0: 4, tariff1: 1 },
      ],
    })
    const last = endedByDay(sales, names.labelOf).at(-1)
    assert.deepEqual(last, { label: '2026-03-30', confirmed: 5, cancelled: 3, expired: 5 })
  })

  test('more tariffs than a chart tells apart: the least sold ones together', () => {
    const days = ['a', 'b', 'c', 'd', 'e', 'f'].map((code, index) => day('2026-03-28', code, { confirmed: 6 - index }))
    const { series, points } = soldByDay({ ...sales, days }, names)
    assert.deepEqual(
      series.map(({ label }) => label),
      ['A', 'B', 'C', 'D', 'Others'],
    )
    assert.equal(points[0]?.others, 3)
  })

  test('the same code at two mobile operators: two tariffs', () => {
    const own = day('2026-03-28', 'a', { confirmed: 1 })
    const days = [own, { ...own, operatorCode: 'roamwide', confirmed: 2 }]
    const nameOf = ({ operatorCode }: { operatorCode: string }) => operatorCode
    const { series, points } = soldByDay({ ...sales, days }, { ...names, nameOf })
    assert.deepEqual(
      series.map(({ label }) => label),
      ['roamwide', 'kyivstar'],
    )
    assert.deepEqual(points[0], { label: '2026-03-28', tariff0: 2, tariff1: 1 })
  })

  test('a chosen tariff of one mobile operator leaves out the one of another with the same code', () => {
    const own = day('2026-03-28', 'a', { confirmed: 1 })
    const both = { ...sales, days: [own, { ...own, operatorCode: 'roamwide', confirmed: 2 }] }
    const sold = (chosen: object) => onlyTariff(both, chosen).days.map(({ confirmed }) => confirmed)
    assert.deepEqual(sold({ operator: 'roamwide', tariff: 'a' }), [2])
    assert.deepEqual(sold({ tariff: 'a' }), [1, 2])
    assert.deepEqual(sold({}), [1, 2])
  })

  test('the sums of one tariff, exact to the cent', () => {
    const { confirmed, cancelled, amounts } = withTotals(onlyTariff(sales, { tariff: 'a' })).totals
    assert.deepEqual([confirmed, cancelled, amounts], [3, 3, [{ currency: 'UAH', amount: 0.3 }]])
  })
})
