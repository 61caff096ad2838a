/** Schemas of credentials and logins, for the operator and for people who manage an account. */
import Type from 'typebox'
import { realNow } from '../clock.ts'
import { broken, mustBe } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { nullable } from '../http/openapi/operations.ts'
import { closed, instant } from '../http/schemas.ts'
import { rolesOfPeople, rolesOfSystems } from '../roles.ts'
import { addDuration, durationPattern } from '../text/duration.ts'
import { controls, documentedInvisible, everyInvisible, invisible, invisibleAbove } from '../text/visible.ts'
import { listedRevokedDays, maxListedRevoked } from './credential-store.ts'

const maxLabelLength = 200
/** The name that people give a credential. Lists and logs show it, so it is one line without invisible characters. */
export const credentialLabel = Type.String({
  maxLength: maxLabelLength,
  pattern: `^[^${controls}${invisible}${invisibleAbove}]*$`,
  'x-documented': { pattern: `^[^${controls}${documentedInvisible}]*$` },
  ...mustBe('visible-line', { max: maxLabelLength }),
  default: '',
  description: 'For people',
  examples: ['Core banking'],
})
const maxLoginLength = 128
const unseen = `${controls}${documentedInvisible}`
/** The login of a new person. It has no space at its beginning or end, because " olena" would look like "olena". */
export const newLogin = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: maxLoginLength,
    pattern: `^[^${everyInvisible}\\p{Z}](?:[^${everyInvisible}]*[^${everyInvisible}\\p{Z}])?$`,
    'x-documented': {
      pattern: `^[^${unseen} \\xa0]([^${unseen}]*[^${unseen} \\xa0])?$`,
    },
    ...mustBe('login', { max: maxLoginLength }),
    description,
    examples: ['olena'],
  })
/** The description of a person's role. */
export const rolesOfPerson = `bank: ${rolesOfPeople.bank.join(', ')}; merchant: ${rolesOfPeople.retailer.join(', ')}; platform: ${rolesOfPeople.platform.join(', ')}`
const describedRole =
  'For a bank, and required there. The eSIM API asks a system for its bank only: a credential with any of these roles, also ' +
  '`VIEWER`, may sell eSIMs and read activation data. The cashback API, events and webhooks refuse a `VIEWER`'
/** The role of a new credential. */
export const bankRoleOfCredential = Type.Enum([...rolesOfSystems.bank], {
  title: 'BankRole',
  description: describedRole,
})
const clientId = Type.String({ description: 'Name of the credential', examples: ['pk_7Yb0'] })
const secret = Type.String({ description: 'The secret. It is shown only once' })
export const IssuedCredential = Type.Object({ clientId, secret }, { description: 'The credential' })
/** A sentence for the descriptions of the two lists of credentials: it says which credentials they contain. */
export const listedCredentials = `Live ones are all listed; revoked ones for ${listedRevokedDays} days, the newest ${maxListedRevoked} at most.`
/** The description of the two operations that rotate a credential. */
export const rotation =
  'The previous secret works until the overlap ends. Never more than two work: a rotation during an overlap ends the older one at once.'
export const RotateBody = Type.Object(
  {
    overlap: Type.String({
      maxLength: 64,
      'x-documented': { pattern: durationPattern },
      default: 'PT24H',
      description: 'How long the previous secret keeps working: an ISO 8601 duration of at most a year',
    }),
  },
  closed,
)
export const RotatedCredential = Type.Object(
  { clientId, secret, previousValidUntil: instant('When the previous secret stops working, in real time') },
  { description: 'The new secret' },
)
export const RevokedCredential = Type.Object({ clientId }, { description: 'The revoked credential' })

const maxOverlapDays = 366

/**
 * Returns the length of an overlap that begins now, in milliseconds.
 * @param overlap an ISO 8601 duration
 * @throws DomainError 'invalid' when the text is no duration, or the duration is longer than a year
 */
export function overlapMs(overlap: string): number {
  const now = realNow()
  const lengthMs = (addDuration(now, overlap)?.getTime() ?? Number.NaN) - now.getTime()
  if (lengthMs <= maxOverlapDays * 86_400_000) return lengthMs
  throw new DomainError('invalid', [broken('overlap', 'overlap-duration')])
}

export const partner = (of: string) =>
  nullable(Type.String({ description: `Code of the ${of}; null for another account` }))
export const credentialFields = {
  clientId,
  bank: partner('bank'),
  merchant: partner('merchant'),
  role: Type.String({
    description: `bank: ${rolesOfSystems.bank.join(', ')}; merchant: ${rolesOfSystems.retailer.join(', ')}`,
  }),
  label: Type.String({ description: 'For people' }),
  createdAt: instant('When it was issued'),
  previousValidUntil: nullable(instant('When the previous secret stops working after a rotation, in real time')),
  revokedAt: nullable(instant('When it was revoked')),
}
export const Credentials = Type.Array(Type.Object(credentialFields), {
  description: 'The credentials in the order in which they were issued, without their secrets',
})
