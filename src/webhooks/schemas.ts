/** Schemas of endpoints and deliveries in the Partner API. */
import Type from 'typebox'
import { mustBe } from '../error-rules.ts'
import { nullable } from '../http/openapi/operations.ts'
import { closed, count, instant, text, uuid } from '../http/schemas.ts'
import { listParameters, newestFirstOf } from '../partner/lists.ts'
import { durationPattern } from '../text/duration.ts'
import { fromToParameters } from '../text/span.ts'
import { controls, documentedInvisible, invisible, invisibleAbove } from '../text/visible.ts'
import { deliveryStates } from './delivery-store.ts'
import { disabledReasons, endpointOrders, endpointStatuses } from './endpoint-store.ts'
import { outcomes } from './sender.ts'

const endpointId = uuid('The endpoint', '3f0c9a52-8d1b-4c7e-9a40-5d2c8e1f7b63')
const secret = text(
  'Signs each request; shown only in this answer',
  'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2zWGxzGHQK0=',
)

const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Where events are sent: https, without user and fragment. In a sandbox also http',
  examples: ['https://bank.example/perkline'],
})
const longestDescription = 255
const descriptionBy = (pattern: string, documentedPattern = pattern) =>
  nullable(
    Type.String({
      maxLength: longestDescription,
      pattern,
      'x-documented': { pattern: documentedPattern },
      ...mustBe('visible-text', { max: longestDescription }),
      description: 'A text of your own',
      examples: ['Core banking'],
    }),
  )
const newDescription = descriptionBy(
  `^[^${controls}${invisible}${invisibleAbove}]*$`,
  `^[^${controls}${documentedInvisible}]*$`,
)
/**
 * The schema of an endpoint's description in answers. Descriptions of earlier versions may have control characters. The
 * pattern has only syntax that all engines share, because the serializer of answers understands no other.
 */
const description = descriptionBy(`^[^${documentedInvisible}]*$`)
const typesBeside = (all: string) =>
  nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 100,
      description: `Types or groups (\`campaign.*\`); ${all}: all, also future ones`,
      examples: [['order.*']],
    }),
  )
const eventTypes = typesBeside('null')
const order = Type.Enum([...endpointOrders], {
  title: 'EndpointOrder',
  description: 'concurrent: up to 10 requests at a time; serial: one at a time, in the order of the feed',
})

const readOnly = {
  endpointId,
  status: Type.Enum([...endpointStatuses], {
    title: 'EndpointStatus',
    description: 'Whether the endpoint gets events',
  }),
  disabledReason: Type.Union(
    [
      Type.Enum([...disabledReasons], {
        title: 'EndpointDisabledReason',
        description:
          'partner, operator: by whom; gone: it answered 410; failing: every attempt of 5 days has failed. null: enabled',
      }),
      Type.Null(),
    ],
    { description: 'Why the endpoint is disabled; null: it is enabled' },
  ),
  position: count('The last event of the feed that was handed over', 1842),
  lag: count('Events that are not yet handed over', 0),
  pending: count('Deliveries that are not finished', 0),
  failingSince: nullable(instant('Since when every attempt has failed, by the clock of the rules')),
  lastSuccessAt: nullable(instant('The last success, in real time')),
  lastFailureAt: nullable(instant('The last failed attempt, in real time')),
  secrets: Type.Array(
    Type.Object(
      {
        createdAt: instant('When it was made'),
        validUntil: nullable(instant('When the secret ends, in real time; null: it is the current one')),
      },
      { title: 'EndpointSecret', description: 'A secret that signs, without its value' },
    ),
    { description: 'The newest first' },
  ),
  createdAt: instant('When the endpoint was made'),
}
const fields = { url, description, eventTypes, order }

export const Endpoint = Type.Object({ ...fields, ...readOnly }, { title: 'Endpoint', description: 'An endpoint' })
export const NewEndpoint = Type.Object(
  { ...fields, ...readOnly, secret },
  { title: 'NewEndpoint', description: 'An endpoint with its secret' },
)
export const Endpoints = Type.Object(
  {
    data: Type.Array(Endpoint, { description: 'The account’s endpoints, the oldest first' }),
    nextCursor: nullable(
      text('Send it as `cursor` to get the next page; null: this is the last page', 'WzQyXQ.Vf8mRz1xq0kQy1aJ'),
    ),
  },
  { description: 'Endpoints' },
)
export const EndpointsQuery = Type.Object(listParameters, closed)
export const CreateBody = Type.Object(
  {
    url,
    description: Type.Optional(newDescription),
    eventTypes: Type.Optional(typesBeside('null, or left out')),
    order: Type.Optional(order),
    startAfter: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.Literal('now')], {
        description: 'The endpoint gets the events after this sequence. Default: now',
        examples: ['now'],
        ...mustBe('sequence-or-now'),
      }),
    ),
  },
  closed,
)
export const ChangeBody = Type.Object(
  {
    url: Type.Optional(url),
    description: Type.Optional(newDescription),
    eventTypes: Type.Optional(eventTypes),
    order: Type.Optional(order),
  },
  closed,
)
export const EnableBody = Type.Object(
  {
    resume: Type.Optional(
      Type.Enum(['position', 'now'], {
        title: 'EndpointResume',
        description:
          'position: from where it was disabled; now: only new events. Pending deliveries are then skipped, and the rest of ' +
          'unfinished replays is dropped without a record. Default: position',
      }),
    ),
  },
  closed,
)
export const RotateBody = Type.Object(
  {
    overlap: Type.Optional(
      Type.String({
        maxLength: 64,
        'x-documented': { pattern: durationPattern },
        description: 'How long the previous secret also signs; ISO 8601, at most P7D. Default: PT24H',
        examples: ['PT24H'],
      }),
    ),
  },
  closed,
)
export const RotatedSecret = Type.Object(
  { secret, previousValidUntil: instant('Until when the previous secret also signs, in real time') },
  { title: 'RotatedSecret', description: 'The new secret' },
)
export const TestBody = Type.Object(
  {
    type: Type.Optional(
      Type.String({ maxLength: 64, description: 'Default: test.ping', examples: ['order.confirmed'] }),
    ),
  },
  closed,
)
export const TestAnswer = Type.Object(
  { deliveryId: uuid('The delivery of the test') },
  { description: 'The attempt is under way' },
)

const edge = (description: string) =>
  Type.Union(
    [Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.String({ minLength: 1, maxLength: 40 })],
    {
      description,
      examples: [1201],
      ...mustBe('sequence-or-instant'),
    },
  )
export const ReplayBody = Type.Object(
  {
    from: edge('A sequence, or an instant of `timestamp`; inclusive. A date alone means midnight UTC'),
    to: Type.Optional(
      edge(
        'A sequence, or an instant of `timestamp`; inclusive. A date alone means the end of that day, UTC. Default: the present end',
      ),
    ),
    types: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Types or groups. Default: those of the endpoint',
        examples: [['order.*']],
      }),
    ),
    only: Type.Enum(['failed', 'all'], {
      title: 'ReplayOnly',
      description: 'failed: events whose latest delivery to this endpoint failed',
    }),
  },
  closed,
)
export const ReplayAnswer = Type.Object(
  {
    replayId: uuid('The replay'),
    deliveries: count('How many deliveries there will be, unless the replay ends before', 12),
  },
  {
    title: 'Replay',
    description:
      'The replay. Its deliveries are created as soon as there is room. It ends early, without a record of the rest, when its ' +
      'endpoint is deleted, or enabled with `resume` `now`',
  },
)

const Attempt = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1, description: '1, 2, and so on', examples: [1] }),
    at: instant('When it began, real time'),
    durationMs: nullable(count('How long it took; null: it was interrupted', 42)),
    outcome: Type.Enum([...outcomes], {
      title: 'DeliveryOutcome',
      description: 'interrupted: the process ended before the outcome was known; the delivery is tried again',
    }),
    statusCode: nullable(
      Type.Integer({ description: 'Status code of the answer; null: there was no answer', examples: [204] }),
    ),
    responseExcerpt: nullable(text('The beginning of the answer’s body', 'ok')),
  },
  { title: 'DeliveryAttempt', description: 'One request' },
)
export const Delivery = Type.Object(
  {
    deliveryId: uuid('The delivery', '019aa5a2-7000-7f3c-9a55-0f6d0a7c2b11'),
    endpointId,
    eventId: uuid('The event', '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'),
    sequence: count('Position of the event in the feed; 0: a test', 1842),
    type: text('Type of the event', 'order.expired'),
    replayId: nullable(uuid('The replay that made it; null: none')),
    state: Type.Enum([...deliveryStates], { title: 'DeliveryState', description: 'What became of it' }),
    createdAt: instant('When it was made, real time'),
    nextAttemptAt: nullable(instant('When the next attempt is due; null: no attempt follows')),
    attempts: Type.Array(Attempt, { description: 'The attempts, in order' }),
  },
  { title: 'Delivery', description: 'One event for one endpoint' },
)
export const DeliveriesPage = newestFirstOf(Delivery, 'Deliveries, newest first')
export const DeliveriesQuery = Type.Object(
  {
    endpointId: Type.Optional(endpointId),
    state: Type.Optional(Type.Enum([...deliveryStates], { title: 'DeliveryState', description: 'What became of it' })),
    type: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Type, or group of types (`order.*`)',
        examples: ['order.expired'],
      }),
    ),
    eventId: Type.Optional(uuid('Deliveries of this event')),
    replayId: Type.Optional(uuid('Deliveries of this replay')),
    ...fromToParameters,
    ...listParameters,
  },
  closed,
)
export const EndpointPath = Type.Object({ endpointId }, closed)
export const DeliveryPath = Type.Object(
  { deliveryId: uuid('The delivery', '019aa5a2-7000-7f3c-9a55-0f6d0a7c2b11') },
  closed,
)
