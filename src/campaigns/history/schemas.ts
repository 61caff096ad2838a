/** Schemas of the history of a campaign. */
import Type from 'typebox'
import { accountTypes } from '../../caller.ts'
import { mustBe } from '../../error-rules.ts'
import { nullable } from '../../http/openapi/operations.ts'
import { closed, instant, uuid } from '../../http/schemas.ts'
import {
  bankStatuses,
  campaignStatuses,
  decided,
  reportingStages,
  subjects,
  triggers,
} from '../lifecycle/transitions.ts'
import { cursorPattern } from './cursors.ts'

const states = [...new Set([...campaignStatuses, ...bankStatuses, ...reportingStages])]
const state = (description: string) =>
  nullable(
    Type.String({ description: `${description}; for \`bankId\` its status or its reporting stage`, examples: states }),
  )

/** What an edit or a segment changed. */
const changes = Type.Unsafe<Record<string, readonly [unknown, unknown] | null> | null>({
  type: ['object', 'null'],
  description:
    'Old and new value of each field that an edit changed; a list with more than 100 elements or 1,024 characters, and always `terminals`, is ' +
    'shown by its length. null for `description` and the banners: they have changed. Of a segment it is `customersCount`, ' +
    'whose old value is ' +
    'null for the first one, and whose new value is null where a new segment has no part of the bank. null where nothing ' +
    'but the state changed.',
  additionalProperties: { type: ['array', 'null'], items: {}, minItems: 2, maxItems: 2 },
  examples: [{ percentage: [5, 20], description: null }],
})

export const HistoryEntry = Type.Object(
  {
    at: instant('When, by the platform’s clock'),
    actor: Type.Object(
      {
        type: Type.Enum([...accountTypes, 'clock'], {
          title: 'ActorType',
          description: 'The bank, the merchant, the platform’s operator, or the clock',
        }),
        id: nullable(uuid('The bank or the merchant; null for others, and to a bank for other banks')),
        login: nullable(
          Type.String({
            description:
              'The portal user’s login, or the clientId of a system; null for the other side and for the clock',
            examples: ['olena'],
          }),
        ),
        name: nullable(
          Type.String({
            description: 'Name of the bank or the merchant; null where `id` is',
            examples: ['Alpha Bank'],
          }),
        ),
        role: nullable(
          Type.String({ description: 'The role with which the actor called; null for the clock', examples: ['ADMIN'] }),
        ),
      },
      { description: 'Who' },
    ),
    subject: Type.Enum([...subjects], {
      title: 'HistorySubject',
      description: 'What changed: the campaign, a bank’s part, or its reporting',
    }),
    bankId: nullable(uuid('The bank whose part or reporting changed; null for the campaign')),
    trigger: Type.Enum([...triggers, decided, 'edit', 'segment'], {
      title: 'HistoryTrigger',
      description:
        'The cause. `edit` and `segment` change fields and leave the state as it is. `decide`: what a bank gets in place of another bank’s ' +
        '`confirm` or `reject`',
    }),
    from: state('The state before; null for the first entry'),
    to: state('The state after; null: removed'),
    changes,
    comment: nullable(Type.String({ description: 'The actor’s comment', examples: ['Not this season'] })),
  },
  { title: 'HistoryEntry' },
)

const exampleCursor = 'q7Jm0w3Vb8sYy1nQe5R2kTzX4uLhGf9Dc6AoPiB7vNxEaKsWdMjZrC'

/** The query of a page of a history. */
export const HistoryQuery = Type.Object(
  {
    before: Type.Optional(
      Type.String({
        pattern: cursorPattern,
        ...mustBe('cursor'),
        description:
          'Only older entries: the `before` of the `Link` header, for the same campaign and account. Leave it out to begin with the ' +
          'newest entries',
        examples: [exampleCursor],
      }),
    ),
  },
  closed,
)

export const BankDecision = Type.Object({
  bankId: uuid('The bank'),
  at: instant('When, by the platform’s clock'),
  comment: nullable(Type.String({ description: 'The bank’s comment', examples: ['Not this season'] })),
})

const link = {
  type: 'string',
  description:
    'The path of the next page, which has older entries, with `rel="next"` (RFC 8288). Absent: there are none',
  examples: [`</portal/cashbacks/7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11/history?before=${exampleCursor}>; rel="next"`],
}
/** The headers of an answer with a page of a history. */
export const historyHeaders = { link }

export const HistoryAnswer = {
  ...Type.Array(HistoryEntry, { description: 'At most 100 entries, oldest first' }),
  headers: historyHeaders,
}

/** Describes the pages of a history, for the API's documentation. */
export const aboutPages =
  'Without `before` it has the newest entries: at most 100, and fewer where they are large. The `Link` header leads to older ones, page ' +
  'by page. A page may be short or empty and still have a next one.'
