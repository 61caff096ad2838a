/**
 * The partner or person for whom a request acts: its account, its role, and its name in records. Code after
 * authentication sees a Caller and never a token. What a role may do: `roles.ts`.
 */
import { type BankRole, hasRight, type MerchantRole, type PlatformRole } from './roles.ts'

export const userTypes = ['gateway_user', 'portal_user'] as const
export const accountTypes = ['bank', 'retailer', 'platform'] as const

type UserType = (typeof userTypes)[number]
export type AccountType = (typeof accountTypes)[number]

/** What the audit log records about a request: its interface (`via`), its id, and the client's network address. */
export type Trace = { via: 'api' | 'portal' | 'cli'; requestId: string; address: string }

type Identity = {
  /** Set for requests that may leave an entry in the audit log. */
  trace?: Trace
  userType: UserType
  /** The clientId of a gateway credential or the userId of a portal user. After a revocation, requests with this id are refused. */
  subject: string
}

export type BankCaller = Identity & { type: 'bank'; bankId: string; role: BankRole }
export type MerchantCaller = Identity & { type: 'retailer'; merchantId: string; role: MerchantRole }
type PlatformCaller = Identity & { type: 'platform'; role: PlatformRole }

/**
 * Returns the name of a caller as records store it: `system:` with the clientId, or `person:` with the user's id,
 * which stays the same when the login changes.
 */
export const callerName = ({ userType, subject }: Identity): string =>
  userType === 'gateway_user' ? `system:${subject}` : `person:${subject}`

/** Splits a name that `callerName` has made into its type and its id. */
export function parseCallerName(name: string): { type: 'system' | 'person'; id: string } {
  const [type, id = ''] = name.split(':')
  return { type: type === 'person' ? 'person' : 'system', id }
}

export type Caller = BankCaller | MerchantCaller | PlatformCaller

/** The account that a caller belongs to: a bank, a merchant (`retailer`), or the platform itself. */
export type Account = { type: AccountType; id: string }

/** Stands for the platform's own account where every account must have an id. The platform has no id of its own. */
export const platformAccountId = '00000000-0000-0000-0000-000000000000'
export const platformAccount: Account = { type: 'platform', id: platformAccountId }

export function accountOf(caller: Caller): Account {
  if (caller.type === 'bank') return { type: 'bank', id: caller.bankId }
  return caller.type === 'retailer' ? { type: 'retailer', id: caller.merchantId } : platformAccount
}

/** Whether the caller is a person who manages the people and credentials of the account. */
export const isManager = (caller: Caller): boolean =>
  caller.userType === 'portal_user' && hasRight(caller, 'manageAccount')
