/** Shapes of the portal's session. */
import Type from 'typebox'
import { accountTypes } from '../caller.ts'
import { named, nullable } from '../http/openapi/operations.ts'
import { closed, instant } from '../http/schemas.ts'
import { rolesOfPeople, rolesOfSystems } from '../roles.ts'
import { factorMethods } from './factors/factors.ts'
import { maxTypedLength } from './passwords/password-rules.ts'

const roles = [
  ...new Set(
    [rolesOfPeople, rolesOfSystems].flatMap(({ bank, retailer, platform }) => [...bank, ...retailer, ...platform]),
  ),
]

const languages = ['uk', 'en'] as const
export const Language = Type.Enum([...languages], {
  title: 'Language',
  description: 'The language of mails',
  examples: ['uk'],
})

export const Challenge = Type.Object(
  {
    challenge: Type.String({ description: 'Send it back with the code' }),
    methods: Type.Array(
      Type.Enum([...factorMethods], { title: 'FactorMethod', description: 'A kind of second factor' }),
      {
        description: 'What the person has set up',
      },
    ),
    expiresAt: instant('Until when it can be answered'),
  },
  { $id: 'LoginChallenge', description: 'A login that needs a second factor' },
)

export const VerifyBody = named(
  'Verification',
  Type.Object(
    {
      challenge: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 128,
          description: 'The challenge of a login. Leave it out to prove a factor in a session',
        }),
      ),
      method: Type.Enum([...factorMethods, 'password'], {
        title: 'VerificationMethod',
        description: 'What `code` is. `password` is only for sessions of people without a second factor',
      }),
      code: Type.String({
        minLength: 1,
        maxLength: maxTypedLength,
        description: 'The code of the authenticator app, a recovery code, or the password',
        examples: ['123456'],
      }),
    },
    closed,
  ),
)

export const Session = Type.Object(
  {
    typeAccount: Type.Enum([...accountTypes], {
      title: 'AccountType',
      description: 'Kind of account: a merchant (`retailer`), a bank or the platform',
    }),
    login: Type.String({ description: 'Login of the user; for a system’s token its clientId', examples: ['olena'] }),
    role: Type.Enum(roles, {
      description:
        'What the user may do; `gateway` is the role of a merchant’s clientId and secret, which may do everything',
    }),
    id: nullable(Type.String({ format: 'uuid', description: 'The bank or the merchant; null for the platform' })),
    name: Type.String({ description: 'Name of the bank, the merchant or the platform', examples: ['Гросер'] }),
    nameEn: nullable(
      Type.String({ description: 'The name in English; null when there is none', examples: ['Grocer'] }),
    ),
    expiresAt: instant('When the session ends; then the user logs in again'),
    now: instant('The platform’s time; in sandbox mode it can be moved'),
    failedLogins: nullable(
      Type.Object(
        {
          count: Type.Integer({ minimum: 0, description: 'How many', examples: [0] }),
          since: instant('The login before this one; for the first login, when the account was made'),
        },
        {
          description:
            'The failed attempts between the last two logins: wrong passwords, wrong or missing codes after a right password, and what was wrong within a session; null for a system’s token',
        },
      ),
    ),
  },
  { $id: 'Session', description: 'Who is logged in' },
)
