/** Schemas of the feed in the Partner API. */
import Type from 'typebox'
import { mustBe } from '../error-rules.ts'
import { closed, instant, text, uuid } from '../http/schemas.ts'
import { accountKinds } from '../outbox/audit-entry.ts'
import { type EventType, testType, testTypes } from './catalogue.ts'
import { sampleOf } from './samples.ts'

const sequence = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] })

export const Event = Type.Object(
  {
    id: uuid(
      'Id of the event for this account; webhooks send it as `webhook-id`',
      '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11',
    ),
    type: text('Type. An open list: ignore what you do not know', 'order.expired'),
    timestamp: instant('When it happened, by the clock of the rules', '2026-11-22T08:15:00.000Z'),
    sequence: Type.Integer({
      minimum: 0,
      description: 'Position in the account’s feed, without gaps',
      examples: [1842],
    }),
    feedId: uuid('The feed; it gets a new id when the operator has restored an older database'),
    mode: Type.Enum(['live', 'sandbox'], {
      title: 'EventMode',
      description: 'sandbox: a test, which you must not book',
    }),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      // Serializers drop properties that a schema does not allow.
      additionalProperties: true,
      description: 'The data of the type, as of the change; `GET /event-types` has the schema',
      examples: [{ orderId: '019aa5a2-0000-7000-8000-000000000001', status: 'expired' }],
    }),
  },
  { title: 'Event', description: 'An event' },
)

export const FeedPage = Type.Object(
  {
    data: Type.Array(Event, { description: 'Events, oldest first' }),
    nextAfter: sequence('Send it as `after` to get the next events', 1842),
    lastSequence: sequence('The newest event; 0: there is none yet', 1842),
    oldestSequence: sequence('The oldest event that is stored', 1),
    feedId: uuid('The feed: send it with `after`, always'),
    hasMore: Type.Boolean({ description: 'There are events after `nextAfter`' }),
  },
  { description: 'A page of the feed' },
)

export const FeedQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: '^([0-9]+|now)$',
        ...mustBe('sequence-or-now'),
        description:
          'Only events with a higher sequence; `now`: no events, only `nextAfter` of the present end. Default: 0',
      }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Most events of one answer' }),
    type: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: 100,
        description: 'Types or groups (`campaign.*`); repeated, or with commas',
        examples: [['order.*']],
      }),
    ),
    wait: Type.Integer({
      minimum: 0,
      maximum: 30,
      default: 0,
      description:
        'Seconds that the answer may wait while there is nothing. At most 4 requests of an account wait at a time',
    }),
    feedId: Type.Optional(
      uuid(
        'The feed that `after` belongs to. Send it always: without it you may not notice that the feed has begun anew',
      ),
    ),
  },
  closed,
)

export const EventTypes = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          type: text('Type', 'order.expired'),
          description: text('What has happened', 'The reservation ended without a confirm'),
          recipients: Type.Array(
            Type.Enum([...accountKinds], { title: 'AccountKind', description: 'Kind of account' }),
            { description: 'The kinds of accounts that may get it' },
          ),
          schema: Type.Unsafe<object>({
            type: 'object',
            description: 'JSON Schema of `data`',
            examples: [{ type: 'object' }],
          }),
        },
        { title: 'EventType', description: 'A type of event' },
      ),
      { description: 'All types' },
    ),
  },
  { description: 'The types of events' },
)

const exampleId = '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'

/** An example of the event, as it is sent to the first kind of account that can receive it. */
const exampleOf = (one: EventType) => ({
  id: exampleId,
  type: one.type,
  timestamp: '2026-11-22T08:15:00.000Z',
  ...(one.type === testType ? { sequence: 0, test: true } : { sequence: 1842 }),
  feedId: '7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11',
  mode: 'live',
  data: sampleOf(one, one.recipients[0] ?? 'platform'),
})

const test = {
  const: true,
  description: 'A sample that the test of an endpoint sends. Its `sequence` is 0, and it is in no feed',
}

const header = (name: string, description: string, example: string, format = {}) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', ...format, examples: [example] },
})

/**
 * The headers of each request to an endpoint, apart from HTTP's own headers, by their names in the OpenAPI components.
 */
export const webhookHeaders = Object.fromEntries(
  [
    header('webhook-id', 'The `id` of the event, the same in each attempt', exampleId, { format: 'uuid' }),
    header('webhook-timestamp', 'When the attempt was made, in seconds since 1970', '1795335300'),
    header(
      'webhook-signature',
      '`v1,` and the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. Its key is what follows `whsec_` in ' +
        'the secret, decoded from base64. While two secrets are valid there are two signatures, with a space between',
      'v1,4Yb6sJq1vC3o8e2nV0mXhT5rW7uKzPdGfLxQaRcEiSg=',
    ),
    header('perkline-endpoint-id', 'The endpoint', '2b1c7e14-5d60-4f3a-8b17-93d0a6e5c201', { format: 'uuid' }),
    header('perkline-attempt', '1 for the first attempt of a delivery', '1'),
  ].map(one => [one.name, one]),
)

/** The `webhooks` of the OpenAPI document: the requests to endpoints. */
export const webhooks = Object.fromEntries(
  testTypes.map(one => [
    one.type,
    {
      post: {
        operationId: `send_${one.type.replaceAll('.', '_')}`,
        summary: one.description,
        description:
          one.type === testType
            ? 'Sent once by the test of an endpoint that names no other type.'
            : 'Sent to every endpoint that is subscribed to this type. The introduction says how it is signed and repeated.',
        tags: ['Events'],
        security: [],
        parameters: Object.keys(webhookHeaders).map(name => ({ $ref: `#/components/parameters/${name}` })),
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { ...plain(Event.properties), type: { const: one.type }, test, data: plain(one.schema) },
                required: Object.keys(Event.properties),
              },
              example: exampleOf(one),
            },
          },
        },
        responses: { '2XX': { description: 'Accepted. Anything else is tried again' } },
      },
    },
  ]),
)

/** Copies a schema without the properties that JSON cannot hold. */
function plain(schema: object): object {
  return JSON.parse(JSON.stringify(schema))
}
