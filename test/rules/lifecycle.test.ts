import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DomainError, type ErrorCode } from '../../src/errors.ts'
import {
  decide,
  isFinal,
  type OrderStatus,
  orderStatuses,
  requireConfirmed,
  reservationEnd,
  statusAt,
  type Trigger,
  transitions,
  triggers,
} from '../../src/esim/orders/lifecycle.ts'

const reservedAt = new Date('2026-11-21T10:00:00.000Z')
const reservedUntil = reservationEnd(reservedAt)
const after = (ms: number) => new Date(reservedUntil.getTime() + ms)
const order = (status: OrderStatus) => ({ status, reservedUntil })

/** The contract's table: what each trigger does to an order that is shown with each status. */
const expected: Record<OrderStatus, Record<Trigger, OrderStatus | 'repeat' | ErrorCode>> = {
  reserved: { confirm: 'confirmed', cancel: 'cancelled' },
  confirmed: { confirm: 'repeat', cancel: 'order-confirmed' },
  cancelled: { confirm: 'order-cancelled', cancel: 'repeat' },
  expired: { confirm: 'order-expired', cancel: 'order-expired' },
}

function outcomeOf(status: OrderStatus, trigger: Trigger, now: Date): string {
  try {
    const decision = decide(order(status), trigger, now)
    return decision.outcome === 'transition' ? decision.to : 'repeat'
  } catch (error) {
    assert.ok(error instanceof DomainError, `${error}`)
    return error.code
  }
}

for (const status of orderStatuses)
  for (const trigger of triggers) {
    const outcome = expected[status][trigger]
    test(`${trigger} on an order that is ${status}: ${outcome}`, () => {
      assert.equal(outcomeOf(status, trigger, after(-1)), outcome)
    })
    // An order with a final status does not change when the time of its reservation passes; a reserved one does.
    const later = status === 'reserved' ? 'expired' : status
    test(`${trigger} after the reservation on an order that was left ${status}: ${expected[later][trigger]}`, () => {
      assert.equal(outcomeOf(status, trigger, after(0)), expected[later][trigger])
    })
  }

test('a reservation lasts exactly 15 minutes', () => {
  assert.equal(reservedUntil.toISOString(), '2026-11-21T10:15:00.000Z')
})

test('at 14:59.999 a reservation still stands; at 15:00.000 it is over, whether or not it was swept', () => {
  assert.equal(statusAt(order('reserved'), after(-1)), 'reserved')
  assert.equal(statusAt(order('reserved'), after(0)), 'expired')
  assert.equal(statusAt(order('reserved'), after(1)), 'expired')
  for (const status of orderStatuses.filter(status => status !== 'reserved'))
    assert.equal(statusAt(order(status), after(1_000_000)), status)
})

test('every move leads from reserved, and to no status twice', () => {
  assert.deepEqual([...new Set(transitions.map(({ from }) => from))], ['reserved'])
  assert.deepEqual(transitions.map(({ to }) => to).sort(), ['cancelled', 'confirmed'])
})

test('a reservation alone does not stay as it is', () => {
  assert.deepEqual(orderStatuses.filter(isFinal), ['confirmed', 'cancelled', 'expired'])
})

test('a refusal tells the status that the caller sees', () => {
  assert.throws(() => decide(order('reserved'), 'confirm', after(0)), {
    code: 'order-expired',
    message: /The order is expired/,
  })
  assert.throws(() => decide(order('confirmed'), 'cancel', after(0)), {
    code: 'order-confirmed',
    message: /is confirmed/,
  })
  assert.throws(() => decide(order('cancelled'), 'confirm', after(-1)), {
    code: 'order-cancelled',
    message: /is cancelled/,
  })
})

test('the QR code exists for a confirmed order only', () => {
  assert.doesNotThrow(() => requireConfirmed(order('confirmed'), after(1)))
  for (const [status, now] of [
    ['reserved', after(-1)],
    ['reserved', after(0)],
    ['cancelled', after(-1)],
    ['expired', after(1)],
  ] as const)
    assert.throws(() => requireConfirmed(order(status), now), { name: 'DomainError', code: 'order-not-confirmed' })
})
