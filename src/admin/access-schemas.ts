/** Schemas of the routes in `access-routes.ts`: credentials and portal users. */

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
import { closed } from './request/documents.ts'

const code = (of: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: `Code of the ${of}`, examples: [example] }))
const account = { bank: code('bank', 'alpha'), merchant: code('merchant', 'grocer') }

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
