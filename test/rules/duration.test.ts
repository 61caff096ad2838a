import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDuration } from '../../src/text/duration.ts'

const from = (instant: string, duration: string) => addDuration(new Date(instant), duration)?.toISOString() ?? null
const start = '2026-11-21T10:00:00.000Z'

test('each unit adds what it says', () => {
  const ends: Record<string, string> = {
    PT15M: '2026-11-21T10:15:00.000Z',
    PT1S: '2026-11-21T10:00:01.000Z',
    PT36H: '2026-11-22T22:00:00.000Z',
    P1D: '2026-11-22T10:00:00.000Z',
    P2W: '2026-12-05T10:00:00.000Z',
    P1M: '2026-12-21T10:00:00.000Z',
    P1Y: '2027-11-21T10:00:00.000Z',
    P1Y2M3DT4H5M6S: '2028-01-24T14:05:06.000Z',
    P1M1W: '2026-12-28T10:00:00.000Z',
    'PT0.5S': '2026-11-21T10:00:00.500Z',
    'PT1,25S': '2026-11-21T10:00:01.250Z',
    'PT899.999S': '2026-11-21T10:14:59.999Z',
    'PT1.2344S': '2026-11-21T10:00:01.234Z',
    'PT0.5H': '2026-11-21T10:30:00.000Z',
    'PT1H1,5M': '2026-11-21T11:01:30.000Z',
    'P1.5D': '2026-11-22T22:00:00.000Z',
    'P0.5W': '2026-11-24T22:00:00.000Z',
    PT90M: '2026-11-21T11:30:00.000Z',
    P0D: start,
    PT0S: start,
    P30DT0H: '2026-12-21T10:00:00.000Z',
    P0001D: '2026-11-22T10:00:00.000Z',
  }
  for (const [duration, end] of Object.entries(ends)) assert.equal(from(start, duration), end, duration)
})

test('M is months before the T and minutes after it', () => {
  assert.equal(from(start, 'P1M'), '2026-12-21T10:00:00.000Z')
  assert.equal(from(start, 'PT1M'), '2026-11-21T10:01:00.000Z')
  assert.equal(from(start, 'P1MT1M'), '2026-12-21T10:01:00.000Z')
})

test('a month that is too short ends at its last day', () => {
  assert.equal(from('2026-01-31T10:00:00.000Z', 'P1M'), '2026-02-28T10:00:00.000Z')
  assert.equal(from('2027-12-31T10:00:00.000Z', 'P2M'), '2028-02-29T10:00:00.000Z')
  assert.equal(from('2028-02-29T10:00:00.000Z', 'P1Y'), '2029-02-28T10:00:00.000Z')
  assert.equal(from('2026-01-31T23:59:59.999Z', 'P1M1D'), '2026-03-01T23:59:59.999Z')
  assert.equal(from('2026-12-31T10:00:00.000Z', 'P11M'), '2027-11-30T10:00:00.000Z')
})

test('what is no duration gives none', () => {
  const texts = [
    '',
    'P',
    'PT',
    'P1',
    '1D',
    'P1DT',
    'P1H',
    'PT1D',
    'P1D1M',
    'PT1S1M',
    'P-1D',
    '-P1D',
    '+P1D',
    'P1.5Y',
    'P0.5M',
    'P1.5DT1H',
    'PT1.5H1M',
    'PT.5S',
    'PT1.S',
    'PT1.0000000001S',
    'pt15m',
    ' PT15M',
    'PT15M ',
    'PT15M\n',
    'PT15M\0',
    'P1D P1D',
    'P1D/P1D',
    'PT١M',
    'P1e3D',
    'P0x1D',
    'PTNaNS',
    '15 minutes',
    `P${'1'.repeat(63)}D`,
    `PT${'0'.repeat(100)}1S`,
  ]
  for (const text of texts) assert.equal(from(start, text), null, JSON.stringify(text))
})

test('an end beyond the year 9999 gives none', () => {
  assert.equal(from('9999-12-31T23:59:59.000Z', 'PT0.999S'), '9999-12-31T23:59:59.999Z')
  for (const text of ['PT1S', 'P1D', 'P1M', 'P1Y']) assert.equal(from('9999-12-31T23:59:59.000Z', text), null, text)
  for (const unit of ['Y', 'M', 'W', 'D']) assert.equal(from(start, `P${'9'.repeat(20)}${unit}`), null, unit)
  for (const unit of ['H', 'M', 'S']) assert.equal(from(start, `PT${'9'.repeat(60)}${unit}`), null, unit)
  assert.equal(from(start, `P${'9'.repeat(61)}Y`), null)
})
