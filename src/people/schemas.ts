/** Schemas of the operations on people and their accounts. */
import Type from 'typebox'
import {
  bankRoleOfCredential,
  credentialFields,
  credentialLabel,
  newLogin,
  rolesOfPerson,
} from '../access/credential-schemas.ts'
import { factorMethods } from '../access/factors/factors.ts'
import { maxTypedLength } from '../access/passwords/password-rules.ts'
import { mfaRules } from '../access/policy/policy-store.ts'
import { Language } from '../access/session-schemas.ts'
import { sessionMethods } from '../access/sessions/session-store.ts'
import { accountTypes } from '../caller.ts'
import { mustBe } from '../error-rules.ts'
import { nullable, nullableEnum } from '../http/openapi/operations.ts'
import { closed, count, flag, instant, uuid } from '../http/schemas.ts'
import { mailStates } from './mail/mail-store.ts'
import { userStatuses } from './users-store.ts'

const code = (of: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: `Code of the ${of}`, examples: [example] }))
export const AccountQuery = Type.Object(
  {
    bank: code('bank; for managers of the platform, who without it mean the platform itself', 'alpha'),
    merchant: code('merchant; likewise', 'grocer'),
  },
  closed,
)

const userId = uuid('The person')
const login = newLogin('What the person logs in with')
const role = Type.String({
  maxLength: 32,
  description: rolesOfPerson,
  examples: ['EDITOR'],
})
const email = Type.String({
  maxLength: 254,
  ...mustBe('email'),
  description: 'The address for mails to the person',
  examples: ['olena@alpha.example'],
})
const knownEmail = nullable(Type.String({ description: 'The address for mails to the person; null: there is none' }))
const password = Type.String({
  minLength: 1,
  maxLength: maxTypedLength,
  description: 'At least 15 characters, and not a common password',
})
const mail = nullableEnum(mailStates, {
  title: 'MailState',
  description: 'The state of the last mail to the person; null: there was none lately',
})
const factors = Type.Array(
  Type.Enum([...factorMethods], { title: 'FactorMethod', description: 'A kind of second factor' }),
  { description: 'The second factors that are set up' },
)

export const Person = Type.Object(
  {
    userId,
    login: Type.String({ description: 'What the person logs in with', examples: ['olena'] }),
    email: knownEmail,
    role,
    status: Type.Enum([...userStatuses], {
      title: 'PersonStatus',
      description: 'invited: has not chosen a password yet',
    }),
    mfa: factors,
    createdAt: instant('When the person was added or invited'),
    lastSeenAt: nullable(instant('The last request, a minute or so ago at most; null: never')),
    mail,
  },
  { title: 'Person', description: 'A person' },
)
export const People = Type.Object(
  { data: Type.Array(Person, { description: 'By login' }) },
  { description: 'The people of the account' },
)

export const InvitationBody = Type.Object({ login, email: Type.Optional(email), role }, closed)
const link = Type.Optional(
  Type.String({
    description: 'Give this link to the person yourself. It is shown only once. Left out when it was mailed',
    examples: ['http://127.0.0.1:8080/app/join#<token>'],
  }),
)
export const Invited = Type.Object(
  { invitationId: uuid('The invitation'), expiresAt: instant('Until when it can be accepted'), link },
  { description: 'The invitation' },
)
export const Invitations = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        invitationId: uuid('The invitation'),
        userId: uuid('The person, as in the list of people'),
        login: Type.String({ description: 'The login that was proposed' }),
        email: knownEmail,
        role,
        createdAt: instant('When the person was invited'),
        expiresAt: instant('Until when it can be accepted'),
        mail,
      }),
      { description: 'The newest first' },
    ),
  },
  { description: 'The invitations that wait' },
)
export const InvitationPath = Type.Object({ invitationId: uuid('The invitation') })
export const PersonPath = Type.Object({ userId })
export const ChangeBody = Type.Object(
  {
    role: Type.Optional(role),
    disabled: Type.Optional(Type.Boolean({ description: 'true: shuts the person out; false: lets them in again' })),
    email: Type.Optional(nullable(email)),
  },
  closed,
)
export const Reset = Type.Object({ expiresAt: instant('Until when the link works'), link }, { description: 'The link' })

export const AcceptBody = Type.Object(
  {
    // The token may have any length, so that a link that was cut off or pasted twice gets the same error as any wrong
    // link.
    token: Type.String({ description: 'What follows # in the link' }),
    password,
    login: Type.Optional(login),
  },
  closed,
)
export const Joined = Type.Object(
  {
    typeAccount: Type.Enum([...accountTypes], { title: 'AccountType', description: 'Kind of account' }),
    login: Type.String({ description: 'What to log in with' }),
  },
  { description: 'Log in now' },
)
export const PasswordBody = Type.Object(
  {
    current: Type.String({ minLength: 1, maxLength: maxTypedLength, description: 'The present password' }),
    password,
  },
  closed,
)
export const ForgottenBody = Type.Object(
  {
    typeAccount: Type.Enum([...accountTypes], { title: 'AccountType', description: 'Kind of account' }),
    login: Type.String({ minLength: 1, maxLength: 128, description: 'Login of the person', examples: ['olena'] }),
  },
  closed,
)

export const SessionPath = Type.Object({ sessionId: uuid('The session') })
export const Sessions = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        sessionId: uuid('The session'),
        current: flag('Whether it is the one that asks'),
        createdAt: instant('When it began'),
        lastSeenAt: instant('The last request, a minute or so ago at most'),
        address: Type.String({ description: 'Where it began', examples: ['192.0.2.7'] }),
        userAgent: Type.String({ description: 'The program, as it names itself' }),
        method: Type.Enum([...sessionMethods], { title: 'SessionMethod', description: 'How the person got in' }),
      }),
      { description: 'The newest first' },
    ),
  },
  { description: 'The live sessions, those of `POST /auth/login` too' },
)

export const Factors = Type.Object(
  {
    totp: Type.Union(
      [
        Type.Object({ confirmedAt: instant('When it was set up') }, { description: 'The authenticator app' }),
        Type.Null(),
      ],
      {
        description: 'The authenticator app; null: none',
      },
    ),
    recoveryCodes: Type.Object({ left: count('How many are left', 10) }, { description: 'The recovery codes' }),
  },
  { description: 'Your second factors' },
)
export const NewTotp = Type.Object(
  {
    secret: Type.String({ description: 'The secret to type into the app (base32)' }),
    uri: Type.String({ description: 'The address that opens the app (otpauth:)' }),
    qr: Type.String({ description: 'The same as a QR code: a PNG as `data:` URI' }),
  },
  { description: 'What the authenticator app needs; confirm with a code of it' },
)
export const CodeBody = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 64, description: 'A code of the app', examples: ['123456'] }) },
  closed,
)
export const RecoveryCodes = Type.Object(
  {
    recoveryCodes: Type.Array(Type.String({ description: 'Works once', examples: ['x7k2m-9q4tr'] }), {
      description: 'Keep them: they are shown only this once',
    }),
  },
  { description: 'The recovery codes' },
)
export const LanguageBody = Type.Object({ language: Language }, closed)

const networks = (of: string) =>
  Type.Array(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'A network, like 192.0.2.0/24',
      examples: ['192.0.2.0/24'],
    }),
    {
      maxItems: 100,
      description: `Networks from which ${of} are let in; empty: from everywhere`,
    },
  )
const policyFields = {
  mfa: Type.Enum([...mfaRules], {
    title: 'MfaRule',
    description: 'Second factors: off: not used; optional: each person decides; required: everybody needs one',
  }),
  sessionMinutes: Type.Integer({ minimum: 15, maximum: 120, description: 'How long a login lasts', examples: [120] }),
  addresses: Type.Object(
    { people: networks('people'), systems: networks('systems') },
    { ...closed, title: 'AddressLists', description: 'Address lists' },
  ),
}
export const Policy = Type.Object(policyFields, { title: 'SecurityPolicy', description: 'The policy of the account' })
export const PolicyBody = Type.Object(
  {
    ...policyFields,
    force: Type.Boolean({ default: false, description: 'true: also a list for people without your own address' }),
  },
  closed,
)

export const CredentialBody = Type.Object(
  {
    role: Type.Optional(bankRoleOfCredential),
    label: credentialLabel,
  },
  closed,
)

export const ClientPath = Type.Object({
  clientId: Type.String({ maxLength: 256, description: 'Name of the credential', examples: ['pk_sample_alpha'] }),
})
export const OwnCredentials = Type.Array(
  Type.Object({
    ...credentialFields,
    issuedBy: nullable(Type.String({ description: 'Login of who issued it; null: the platform’s operator' })),
    lastUsedAt: nullable(instant('Its last request, a minute or so ago at most; null: never')),
  }),
  { description: 'The credentials in the order in which they were issued, without their secrets' },
)
