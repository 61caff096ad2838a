/** Shapes of the portal's session. */
import Type from 'typebox'
import { nullable } from '../http/openapi/operations.ts'
import { instant } from '../http/schemas.ts'
import { accountTypes, bankRoles, merchantRoles, platformRoles } from './caller.ts'

const roles = [...new Set([...bankRoles, ...merchantRoles, ...platformRoles])]

export const Session = Type.Object(
  {
    typeAccount: Type.Enum([...accountTypes], {
      title: 'AccountType',
      description: 'Kind of account: a merchant (`retailer`), a bank or the platform',
    }),
    login: Type.String({ description: 'Login of the user; for a system’s token its clientId', examples: ['olena'] }),
    role: Type.Enum([...roles, 'gateway'], {
      description:
        'What the user may do; `gateway` is the role of a merchant’s clientId and secret, which may do everything',
    }),
    id: nullable(Type.String({ format: 'uuid', description: 'The bank or the merchant; null for the platform' })),
    name: Type.String({ description: 'Name of the bank, the merchant or the platform', examples: ['Гросер'] }),
    nameEn: nullable(
      Type.String({ description: 'Its name in English; null where there is no other', examples: ['Grocer'] }),
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
            'Wrong passwords for this login between the login before and the last one; null for a system’s token',
        },
      ),
    ),
  },
  { $id: 'Session', description: 'Who is logged in' },
)
