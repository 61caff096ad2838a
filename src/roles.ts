/**
 * The roles of people and systems, and what each role may do (contract/access.md, "Roles"). A role may do what its row
 * in `rights` lists, and nothing else.
 */

/** The roles that people can have, those with the most rights first. */
export const rolesOfPeople = {
  bank: ['ADMIN', 'EDITOR', 'VIEWER'],
  retailer: ['admin_user', 'editor', 'viewer'],
  platform: ['admin', 'viewer'],
} as const

/** The roles that credentials can have. Each credential of a merchant is a `gateway`, and the platform has none. */
export const rolesOfSystems = {
  bank: ['ADMIN', 'EDITOR', 'VIEWER'],
  retailer: ['gateway'],
  platform: [],
} as const

type Kind = keyof typeof rolesOfPeople
type RoleOf<K extends Kind> = (typeof rolesOfPeople)[K][number] | (typeof rolesOfSystems)[K][number]
export type BankRole = RoleOf<'bank'>
export type BankSystemRole = (typeof rolesOfSystems.bank)[number]
export type MerchantRole = RoleOf<'retailer'>
export type PlatformRole = RoleOf<'platform'>

export type Right =
  /** Campaigns with their segments and reconciliation. */
  | 'readCampaigns'
  | 'changeCampaigns'
  /** Tariffs, orders and sales figures of a bank, without activation data. */
  | 'readSales'
  /** A person reserves, confirms and cancels orders, and reads activation data. */
  | 'sell'
  /** A system does the same. */
  | 'sellAsSystem'
  | 'readStatements'
  /** Events, webhook endpoints and deliveries. */
  | 'readEvents'
  /** Changes endpoints, and tests, retries, replays and skips deliveries. */
  | 'changeWebhooks'
  | 'readAuditLog'
  /** A person manages the people, credentials and security policy of the account. Systems cannot, whatever their role. */
  | 'manageAccount'
  /** The operator's API. */
  | 'readPlatform'
  | 'changePlatform'

const rights: { readonly [K in Kind]: Readonly<Record<RoleOf<K>, readonly Right[]>> } = {
  bank: {
    ADMIN: [
      'readCampaigns',
      'changeCampaigns',
      'readSales',
      'sell',
      'sellAsSystem',
      'readStatements',
      'readEvents',
      'changeWebhooks',
      'readAuditLog',
      'manageAccount',
    ],
    EDITOR: ['readCampaigns', 'changeCampaigns', 'readSales', 'sell', 'sellAsSystem', 'readStatements', 'readEvents'],
    VIEWER: ['readSales', 'sellAsSystem', 'readStatements'],
  },
  retailer: {
    admin_user: ['readCampaigns', 'changeCampaigns', 'readEvents', 'changeWebhooks', 'readAuditLog', 'manageAccount'],
    editor: ['readCampaigns', 'changeCampaigns', 'readEvents'],
    viewer: ['readCampaigns', 'readEvents'],
    gateway: ['readCampaigns', 'changeCampaigns', 'readEvents', 'changeWebhooks', 'readAuditLog'],
  },
  platform: {
    admin: ['readEvents', 'changeWebhooks', 'readAuditLog', 'manageAccount', 'readPlatform', 'changePlatform'],
    viewer: ['readEvents', 'readAuditLog', 'readPlatform'],
  },
}

/** All roles of a kind of account, of people and of systems. */
export const rolesOf = <K extends Kind>(kind: K): RoleOf<K>[] => Object.keys(rights[kind]) as RoleOf<K>[]

/** Whether a value is the name of a role. In a token it may be any JSON value. */
export const isRoleOf = <K extends Kind>(kind: K, role: unknown): role is RoleOf<K> =>
  (rolesOf(kind) as unknown[]).includes(role)

/** The roles of a kind of account that have a right. */
export const rolesWith = <K extends Kind>(kind: K, right: Right): RoleOf<K>[] =>
  rolesOf(kind).filter(role => hasRight({ type: kind, role }, right))

/** Whether a caller's role gives the right. */
export function hasRight({ type, role }: { type: Kind; role: string }, right: Right): boolean {
  const rows: Readonly<Record<string, readonly Right[]>> = rights[type]
  return rows[role]?.includes(right) ?? false
}

/** The text of an error for a caller with another role. `gateway` is left out, because nobody can assign it. */
export const needsRole = (roles: readonly string[]): string =>
  `This operation needs the role ${roles.filter(role => role !== 'gateway').join(' or ')}`
