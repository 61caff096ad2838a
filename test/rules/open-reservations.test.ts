import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createOpenReservations } from '../../src/esim/orders/open-reservations.ts'

function limited(limit: number, open = 0) {
  const counts: string[] = []
  const state = { open }
  const reservations = createOpenReservations({
    limit,
    count: async bankId => {
      counts.push(bankId)
      return state.open
    },
    onError: assert.fail,
  })
  /** Makes reservations one by one as long as none needs the bank's lock, and returns how many were possible. */
  const takeAll = (bankId = 'alpha') => {
    for (let taken = 0; ; taken++) if (!reservations.far(bankId, 1)) return taken
  }
  return { ...reservations, takeAll, counts, state }
}

test('a bank that was never counted is not far from its limit', () => {
  assert.equal(limited(1_000_000).takeAll(), 0)
})

test('near the limit, and with any small limit, every reservation is counted', () => {
  for (const [limit, open] of [
    [1, 0],
    [3_999, 0],
    [10_000, 6_001],
    [10_000, 10_000],
    [10_000, 10_001],
    [1_000_000, 996_500],
  ] as const) {
    const bank = limited(limit)
    bank.counted('alpha', open)
    assert.equal(bank.takeAll(), 0, `${open} of ${limit}`)
  }
})

test('between two counts a process uses at most a sixteenth of the remaining limit', () => {
  const bank = limited(1_000_000)
  bank.counted('alpha', 200_000)
  assert.equal(bank.takeAll(), 50_000)
  assert.equal(bank.far('alpha', 1), false)
})

test('many at once are taken whole or not at all', () => {
  const bank = limited(160_000)
  bank.counted('alpha', 0)
  assert.equal(bank.far('alpha', 9_999), true)
  assert.equal(bank.far('alpha', 2), false)
  assert.equal(bank.far('alpha', 1), true)
})

test('one bank’s room is not another’s', () => {
  const bank = limited(1_000_000)
  bank.counted('alpha', 0)
  assert.equal(bank.takeAll('beta'), 0)
  bank.counted('beta', 999_999)
  assert.equal(bank.takeAll('beta'), 0)
  assert.ok(bank.takeAll('alpha') > 0)
})

test('when half is used the bank is counted anew beside the requests, once at a time', async () => {
  const bank = limited(1_600_000)
  bank.state.open = 1_599_000
  bank.counted('alpha', 0)
  assert.equal(bank.far('alpha', 50_000), true)
  assert.deepEqual(bank.counts, [])
  for (let more = 0; more < 5; more++) assert.equal(bank.far('alpha', 1), true)
  assert.deepEqual(bank.counts, ['alpha'])
  await turn()
  assert.equal(bank.takeAll(), 0, 'the new count says that there is little room')
})
