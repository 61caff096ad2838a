/**
 * The partner or person for whom a request acts: its account, its role, and what a role may do. Code after
 * authentication sees a Caller and never a token.
 */

export const bankRoles = ['ADMIN', 'EDITOR', 'VIEWER'] as const
export const merchantRoles = ['admin_user', 'editor', 'viewer'] as const
export const platformRoles = ['admin', 'viewer'] as const
export const userTypes = ['gateway_user', 'portal_user'] as const
export const accountTypes = ['bank', 'retailer', 'platform'] as const

export type BankRole = (typeof bankRoles)[number]
/** `gateway` is the role of a merchant's clientId and secret: it may do everything. */
export type MerchantRole = (typeof merchantRoles)[number] | 'gateway'
export type PlatformRole = (typeof platformRoles)[number]
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

const changingRoles: readonly Caller['role'][] = ['ADMIN', 'EDITOR', 'gateway', 'admin_user', 'editor']

/** Whether the caller of a bank or merchant may make changes. The roles `VIEWER` and `viewer` only read. */
export const mayChange = ({ role }: BankCaller | MerchantCaller): boolean => changingRoles.includes(role)

/** The role that manages the people and credentials of an account. */
export const managerRoles = { bank: 'ADMIN', retailer: 'admin_user', platform: 'admin' } as const

export const isManager = (caller: Caller): boolean =>
  caller.userType === 'portal_user' && caller.role === managerRoles[caller.type]
