/** Schemas of the route in `directory-routes.ts`. */

import Type from 'typebox'
import { applyModes } from '../partners/operations.ts'
import { entryKinds } from '../partners/tables.ts'
import { closed } from './request/documents.ts'

export const DirectoryBody = Type.Object(
  {
    directory: Type.String({
      description: 'The directory file: YAML 1.2 or JSON. Entries that it leaves out stay as they are',
    }),
    files: Type.Record(Type.String({ maxLength: 1024 }), Type.String(), {
      default: {},
      description:
        'The texts of the `terminalsFile` entries, by their path as the file writes it: CSV with commas, semicolons or tabs',
    }),
    mode: Type.Enum([...applyModes], {
      title: 'ApplyMode',
      default: 'apply',
      description: 'apply: makes new entries and changes known ones; create: every code must be new, otherwise 409',
    }),
  },
  closed,
)
export const DirectoryQuery = Type.Object(
  {
    dryRun: Type.Boolean({
      default: false,
      description: 'true: everything is checked and counted, nothing is changed',
    }),
  },
  closed,
)
const entries = (description: string) => Type.Integer({ minimum: 0, description })
const pair = Type.Array(Type.Unknown(), {
  minItems: 2,
  maxItems: 2,
  description: '[old, new]; old is null in a new entry',
})
const terminals = Type.Object(
  { added: entries('New ones'), removed: entries('Removed ones'), changed: entries('Ones with another value') },
  { description: 'Of `terminals` only the numbers' },
)
export const Applied = Type.Object(
  {
    created: entries('New entries'),
    updated: entries('Entries that have changed'),
    unchanged: entries('Entries that were up to date'),
    changes: Type.Array(
      Type.Object({
        kind: Type.Enum([...entryKinds], { title: 'EntryKind', description: 'What the entry is' }),
        code: Type.String({ description: 'Its code; of a tariff `operator/tariff`', examples: ['alpha'] }),
        change: Type.Enum(['created', 'updated'], { description: 'Whether it is new' }),
        fields: Type.Record(Type.String(), Type.Union([pair, terminals]), {
          description: 'Each field that differs, by its name; inside another one with a dot, as `esim.operators`',
        }),
      }),
      { maxItems: 1000, description: 'What changes, entry by entry: the first 1,000' },
    ),
    truncated: Type.Optional(Type.Literal(true, { description: 'There are more changes than are listed' })),
  },
  { description: 'The result; a tariff is an entry of its own' },
)
