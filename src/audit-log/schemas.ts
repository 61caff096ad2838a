/** Schemas of audit log entries in the Partner API. */
import Type from 'typebox'
import { lineContent, nullable } from '../http/openapi/operations.ts'
import { closed, instant, text, uuid } from '../http/schemas.ts'
import { accountKinds, actorKinds, type EntryChange, outcomes, viaKinds } from '../outbox/audit-entry.ts'
import { listParameters, newestFirstOf } from '../partner/lists.ts'
import { fromToParameters } from '../text/span.ts'

export const EntriesQuery = Type.Object(
  {
    ...fromToParameters,
    action: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Exactly this action', examples: ['credential.issued'] }),
    ),
    actor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Exactly this actor: the clientId of a system, the id of a person',
        examples: ['pk_sample_alpha'],
      }),
    ),
    object: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'A type of object, or one object as `type:id`',
        examples: ['credential:pk_sample_alpha'],
      }),
    ),
    account: Type.Optional(uuid('For the platform’s users: entries of this bank or merchant only')),
    ...listParameters,
  },
  closed,
)

const open = 'New values may be added'

const Entry = Type.Object(
  {
    seq: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Number among all entries; for the platform’s users only',
        examples: [4711],
      }),
    ),
    accountSeq: Type.Integer({
      minimum: 1,
      description: 'Number among the account’s entries, without gaps',
      examples: [42],
    }),
    at: instant('When, in real time', '2026-11-21T08:00:00.000Z'),
    account: Type.Object(
      {
        type: Type.Enum([...accountKinds], { title: 'AccountKind', description: 'Kind of account' }),
        id: nullable(uuid('The bank or the merchant; null: the platform')),
        name: Type.Optional(text('Its name as it is now; for the platform’s users only', 'Гросер')),
        nameEn: Type.Optional(text('A merchant’s name in English; for the platform’s users only', 'Grocer')),
      },
      { title: 'EntryAccount', description: 'The account that the entry belongs to' },
    ),
    actor: Type.Object(
      {
        type: Type.Enum([...actorKinds], {
          title: 'EntryActorKind',
          description: `operator: the holder of the operator’s key; unknown: somebody without an existing login. ${open}`,
        }),
        id: nullable(text('The clientId of a system, the id of a person', 'pk_sample_alpha')),
        name: nullable(
          text(
            'The label of the system, the login of the person, as they are now; null: there is none',
            'Core banking',
          ),
        ),
      },
      { title: 'EntryActor', description: 'Who did it' },
    ),
    via: Type.Enum([...viaKinds], { title: 'EntryVia', description: 'The interface that was used' }),
    action: text(`What was done. ${open}`, 'credential.issued'),
    object: Type.Object(
      {
        type: text(`Kind of object. ${open}`, 'credential'),
        id: nullable(text('Its id; null: there is only one such object, or its id is not shown', 'pk_sample_alpha')),
      },
      { title: 'EntryObject', description: 'What it was done to' },
    ),
    outcome: Type.Enum([...outcomes], { title: 'EntryOutcome', description: 'Whether it was done' }),
    change: Type.Unsafe<EntryChange>({
      type: 'object',
      additionalProperties: {
        type: 'array',
        minItems: 2,
        maxItems: 2,
        items: {},
        description: 'The old value, and the new one',
      },
      description: 'Old and new value by the name of the field; of a secret its fingerprint',
      examples: [{ role: [null, 'EDITOR'] }],
    }),
    requestId: nullable(text('The request that did it; null: none', '0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63')),
    address: nullable(text('The address that it came from; null: none', '192.0.2.17')),
  },
  { title: 'AuditEntry', description: 'An entry of the audit log' },
)

export const EntriesPage = newestFirstOf(Entry, 'Entries, newest first')

const account = EntriesQuery.properties.account

export const LogQuery = Type.Object({ ...fromToParameters, account }, closed)

const hex = (description: string) =>
  text(description, '5d41402abc4b2a76b9719d911017c592ae2f1e6e0f4a4c3c8f8f4f6a0b1c2d3e')

const LogLine = Type.Object(
  {
    seq: Type.Optional(Type.Integer({ description: 'Number among all entries; of the whole log only', examples: [1] })),
    entry: text('The entry: the JSON text that is hashed', '{"accountSeq":1}'),
    accountHash: hex('The hash of the account’s chain, in hexadecimal digits'),
    hash: Type.Optional(hex('The hash of all entries; of the whole log only')),
  },
  { title: 'AuditLogLine', description: 'A line of the audit log' },
)

/** The answer of an export. */
export const LogLines = { description: 'A JSON object in each line', content: lineContent(LogLine) }

export const CheckpointsQuery = Type.Object({ ...fromToParameters, ...listParameters }, closed)

const ShownCheckpoint = Type.Object(
  {
    at: instant('When, in real time', '2026-11-21T08:00:00.000Z'),
    hash: hex('The hash of the whole log, in hexadecimal digits'),
    accountSeq: Type.Optional(
      Type.Integer({ description: 'For a partner: its last entry then; 0: none', examples: [42] }),
    ),
    accountHash: Type.Optional(nullable(hex('For a partner: the hash of its own chain then; null: no entry'))),
    seq: Type.Optional(
      Type.Integer({ description: 'For the platform’s users: the last entry then', examples: [4711] }),
    ),
    note: Type.Optional(
      text(
        'The signed note (C2SP). For a partner: about its own chain, under a name that ends with the account’s id; left out while the ' +
          'account has no entry. For the platform’s users: about the whole log',
        'perkline.audit/019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11',
      ),
    ),
  },
  { title: 'AuditCheckpoint', description: 'A checkpoint of the audit log' },
)

export const CheckpointsPage = newestFirstOf(ShownCheckpoint, 'Checkpoints, newest first')
