/**
 * The span of each statement: every instant belongs to exactly one, in every time zone and across changes of clocks
 * (contract/statements.md, "Days and closing").
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginningWith, closingDelayMs, dueSpan, nextSpan, type Standing } from '../../src/statements/spans.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * Closes day after day.
 * @returns the lengths in hours that occurred
 */
function walk(start: Standing, days: number): Set<number> {
  const lengths = new Set<number>()
  let standing = start
  for (let n = 0; n < days; n++) {
    const { from, to, day } = nextSpan(standing)
    assert.equal(from.getTime(), standing.from.getTime())
    assert.ok(to > from && day > standing.day, `${day} after ${standing.day}`)
    lengths.add((to.getTime() - from.getTime()) / hourMs)
    standing = { ...standing, from: to, day }
  }
  return lengths
}

test('a year of days covers each instant once; days have 23 to 25 hours where clocks change', () => {
  const zones: [string, string, number[]][] = [
    ['Europe/Kyiv', '2026-01-01T12:00:00Z', [23, 24, 25]],
    ['America/New_York', '2026-01-01T12:00:00Z', [23, 24, 25]],
    ['Asia/Kathmandu', '2026-01-01T12:00:00Z', [24]],
    ['Pacific/Apia', '2011-06-01T12:00:00Z', [23, 24, 25]],
    ['UTC', '2026-01-01T12:00:00Z', [24]],
  ]
  for (const [timeZone, since, expected] of zones) {
    const lengths = walk(beginningWith(new Date(since), timeZone), 366)
    for (const length of lengths) assert.ok(length === 24 || expected.includes(length), `${timeZone}: ${length}`)
    for (const length of expected) assert.ok(lengths.has(length), `${timeZone} has no day of ${length} hours`)
  }
})

test('the first statement is for the local day of the first sale', () => {
  const kyiv = beginningWith(new Date('2026-11-21T22:30:00Z'), 'Europe/Kyiv')
  assert.deepEqual(nextSpan(kyiv), {
    from: new Date('2026-11-21T22:00:00Z'),
    to: new Date('2026-11-22T22:00:00Z'),
    day: '2026-11-22',
  })
})

test('a change of zone leaves no gap and no overlap, and days only grow', () => {
  const zones = [
    'UTC',
    'Pacific/Honolulu',
    'Pacific/Kiritimati',
    'Pacific/Pago_Pago',
    'Asia/Kathmandu',
    'America/New_York',
  ]
  let standing = beginningWith(new Date('2026-03-01T12:00:00Z'), 'Europe/Kyiv')
  for (let n = 0; n < 200; n++) {
    const timeZone = zones[n % zones.length] ?? 'UTC'
    const { from, to, day } = nextSpan({ ...standing, timeZone })
    assert.equal(from.getTime(), standing.from.getTime())
    assert.ok(day > standing.day && to.getTime() - from.getTime() <= 51 * hourMs, `${day} after ${standing.day}`)
    standing = { from: to, day, timeZone }
  }
})

test('to the west the statement runs one day longer when the day of the last one is not over yet', () => {
  const closed = { from: new Date('2026-11-22T22:00:00Z'), day: '2026-11-22' }
  assert.deepEqual(nextSpan({ ...closed, timeZone: 'America/New_York' }), {
    from: closed.from,
    to: new Date('2026-11-24T05:00:00Z'),
    day: '2026-11-23',
  })
  assert.deepEqual(nextSpan({ ...closed, timeZone: 'Asia/Kathmandu' }), {
    from: closed.from,
    to: new Date('2026-11-23T18:15:00Z'),
    day: '2026-11-23',
  })
})

test('a day is due one minute after its end, and more than 400 missing days become one statement', () => {
  const standing = beginningWith(new Date('2026-01-01T12:00:00Z'), 'UTC')
  const end = Date.parse('2026-01-02T00:00:00Z')
  assert.equal(dueSpan(standing, new Date(end + closingDelayMs - 1)), null)
  assert.equal(dueSpan(standing, new Date(end + closingDelayMs))?.day, '2026-01-01')
  const after = (days: number) => dueSpan(standing, new Date(end + closingDelayMs + days * dayMs))
  assert.equal(after(399)?.day, '2026-01-01', '400 are missing')
  assert.deepEqual(after(400), {
    from: new Date('2026-01-01T00:00:00Z'),
    to: new Date(end + 400 * dayMs),
    day: '2027-02-05',
  })
})
