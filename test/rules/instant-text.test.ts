/** Instants in answers are written exactly as `Date.toISOString` writes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantText } from '../../src/text/instant-text.ts'

test('the same text as toISOString, at the edges of days, months, years and eras', () => {
  const days = ['1969-12-31', '1970-01-01', '0001-01-01', '2024-02-29', '2026-11-22', '2026-12-31', '9999-12-31']
  const times = ['00:00:00.000', '00:00:00.001', '09:05:07.010', '12:34:56.789', '23:59:59.999']
  for (const time of times)
    for (const day of days) assert.equal(instantText(new Date(`${day}T${time}Z`)), `${day}T${time}Z`)
  for (const ms of [-1, 0, 1, 86_399_999, 86_400_000, 8.64e15, -8.64e15, 253_402_300_800_000])
    assert.equal(instantText(new Date(ms)), new Date(ms).toISOString())
})

test('one after the other, on the same day and not', () => {
  let ms = Date.parse('2026-11-21T00:00:00Z')
  for (const step of [0, 1, 999, 59_000, 3_540_000, 82_800_000, 1, -1, 86_400_000, -172_800_000]) {
    ms += step
    assert.equal(instantText(new Date(ms)), new Date(ms).toISOString())
  }
})
