/** The sample data in a test of an endpoint has the shape of its event type, and the state that the type reports. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { typeOfTransition } from '../../src/campaigns/lifecycle/events.ts'
import { transitions } from '../../src/campaigns/lifecycle/transitions.ts'
import type { OrderStatus } from '../../src/esim/orders/lifecycle.ts'
import { testTypes } from '../../src/events/catalogue.ts'
import { webhooks } from '../../src/events/feed-schemas.ts'
import { sampleOf } from '../../src/events/samples.ts'
import { type EventTypeName, eventTypeNames } from '../../src/outbox/event-types.ts'

type Sample = Record<string, unknown>
const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)

const samples = testTypes.flatMap(one => one.recipients.map(to => ({ one, to, data: sampleOf(one, to) as Sample })))

for (const { one, to, data } of samples)
  test(`${one.type} for a ${to} has the shape of its type`, () => {
    assert.ok(ajv.validate(one.schema, data), ajv.errorsText())
  })

/** The status of the order in each type of event about orders. */
const statusOf: Record<Extract<EventTypeName, `order.${string}`>, OrderStatus> = {
  'order.confirmed': 'confirmed',
  'order.cancelled': 'cancelled',
  'order.expiring': 'reserved',
  'order.expired': 'expired',
  'order.email_delivery': 'confirmed',
}

test('an order of a sample is in the state that its type tells of', () => {
  for (const [type, status] of Object.entries(statusOf)) {
    const { one, data } = samples.find(({ one }) => one.type === type) ?? assert.fail(type)
    const settled = status === 'confirmed' || status === 'cancelled'
    assert.deepEqual(
      [data.status, data.reservedUntil === null, data.confirmedAt !== null, data.cancelledAt !== null],
      [status, settled, status === 'confirmed', status === 'cancelled'],
      one.type,
    )
  }
})

test('a sample of a campaign tells a transition that the table has', () => {
  const told = samples.filter(({ one }) => /^(campaign|participation|reconciliation)\./.test(one.type))
  for (const { one, data } of told.filter(({ one }) => one.type !== 'campaign.updated')) {
    const fits = transitions.some(
      transition =>
        typeOfTransition(transition) === one.type &&
        (transition.subject === 'campaign'
          ? data.status === transition.to && [undefined, transition.from].includes(data.previousStatus as never)
          : transition.subject === 'bank'
            ? data.bankStatus === transition.to && data.previousBankStatus === transition.from
            : data.stage === transition.to) &&
        [undefined, transition.trigger].includes(data.trigger as never),
    )
    assert.ok(fits, `${one.type}: ${JSON.stringify(data)}`)
  }
})

test('each type of event is recorded by some code', () => {
  // The modules with which events are recorded. The room `events` only describes and reads them.
  const recording = /from '[./]*outbox\/(event-writing|rows)\.ts'/
  const source = new URL('../../src/', import.meta.url)
  const texts = globSync('**/*.ts', { cwd: source })
    .filter(file => !/^(events|outbox)\//.test(file))
    .map(file => readFileSync(new URL(file, source), 'utf8'))
    .filter(text => recording.test(text))
  const unrecorded = eventTypeNames.filter(type => !texts.some(text => text.includes(`'${type}'`)))
  assert.deepEqual(unrecorded, [])
})

test('a sample tells a bank no banks of a segment, and no free profile of a tariff that has none', () => {
  const of = (type: string, to: string) => samples.find(({ one, to: kind }) => one.type === type && kind === to)?.data
  assert.equal(of('segment.formed', 'bank')?.banks, undefined)
  assert.ok(of('segment.formed', 'merchant')?.banks)
  assert.equal(of('stock.out', 'platform')?.free, 0)
})

test('the document shows an example of each webhook', () => {
  for (const [type, { post }] of Object.entries(webhooks)) {
    const { schema, example } = post.requestBody.content['application/json'] as { schema: object; example?: Sample }
    assert.ok(example, type)
    assert.ok(ajv.validate(schema, example), `${type}: ${ajv.errorsText()}`)
    assert.equal(example.type, type)
  }
})
