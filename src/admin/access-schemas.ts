/** Schemas of the routes in `access-routes.ts`: directory files, credentials and portal users. */

import Type from 'typebox'
import {
  bankRoleOfCredential,
  credentialLabel,
  newLogin,
  partner,
  rolesOfPerson,
} from '../access/credential-schemas.ts'
import { maxTypedLength } from '../access/passwords/password-rules.ts'
import { mustBe } from '../error-rules.ts'
import { nullable } from '../http/openapi/operations.ts'
import { instant } from '../http/schemas.ts'
import { applyModes } from '../partners/operations.ts'
import { entryKinds } from '../partners/tables.ts'
import { closed } from './request/documents.ts'

const code = (of: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: `Code of the ${of}`, examples: [example] }))
const account = { bank: code('bank', 'alpha'), merchant: code('merchant', 'grocer') }

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

export const CredentialBody = Type.Object(
  {
    ...account,
    role: Type.Optional(bankRoleOfCredential),
    label: credentialLabel,
  },
  { ...closed, description: 'Give either `bank` or `merchant`' },
)
export const UserBody = Type.Object(
  {
    ...account,
    platform: Type.Optional(Type.Literal(true, { description: 'A user of the platform itself' })),
    login: newLogin('Unique over all accounts'),
    role: Type.String({
      maxLength: 32,
      description: rolesOfPerson,
    }),
    password: Type.String({
      minLength: 1,
      maxLength: maxTypedLength,
      description: 'At least 15 characters, and not a common password',
    }),
    email: Type.Optional(
      Type.String({ maxLength: 254, ...mustBe('email'), description: 'The address for mails to the user' }),
    ),
  },
  { ...closed, description: 'Give exactly one of `bank`, `merchant` and `platform`' },
)
const userId = Type.String({ format: 'uuid', description: 'The user' })
export const AddedUser = Type.Object({ userId }, { description: 'The user' })
export const Users = Type.Array(
  Type.Object({
    userId,
    login: Type.String({ description: 'The login of the user' }),
    role: Type.String({ description: 'What the user may do' }),
    bank: partner('bank'),
    merchant: partner('merchant'),
    createdAt: instant('When the user was added'),
    disabledAt: nullable(instant('When the user was disabled')),
  }),
  { description: 'By login; a user of neither bank nor merchant is the platform’s' },
)
export const DisabledUser = Type.Object(
  { login: Type.String({ description: 'The login of the user' }) },
  { description: 'The disabled user' },
)
export const ErasedUser = Type.Object(
  { login: Type.String({ description: 'The login, which is free now' }) },
  { description: 'The erased user' },
)

export const ClientPath = Type.Object({
  clientId: Type.String({ maxLength: 256, description: 'Name of the credential', examples: ['pk_sample_alpha'] }),
})
export const LoginPath = Type.Object({
  login: Type.String({ maxLength: 512, description: 'Login of the user', examples: ['olena'] }),
})

export const PartnerQuery = Type.Object(account, {
  ...closed,
  description: 'Give `bank` or `merchant`, or neither for all',
})
export const AccountQuery = Type.Object(
  { ...account, platform: Type.Optional(Type.Boolean({ description: 'true: the platform itself' })) },
  { ...closed, description: 'Give exactly one of `bank`, `merchant` and `platform`' },
)
export const AccountBody = Type.Object(
  { ...account, platform: Type.Optional(Type.Literal(true, { description: 'The platform itself' })) },
  { ...closed, description: 'Give exactly one of `bank`, `merchant` and `platform`' },
)
