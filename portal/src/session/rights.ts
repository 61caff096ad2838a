/**
 * What a role may do. Pages use it to hide actions that the platform would refuse. The platform itself checks every
 * request.
 */
import type { components } from '../api/schema/perkline.ts'
import type { AccountType, Role, Session } from './session.ts'

type Reader = Pick<Session, 'typeAccount' | 'role'>

type Right =
  | 'readCampaigns'
  | 'changeCampaigns'
  | 'readSales'
  | 'readStatements'
  | 'readEvents'
  | 'changeWebhooks'
  | 'readAuditLog'
  | 'manageAccount'
  | 'readPlatform'
  | 'changePlatform'

/**
 * The rights of people that matter to pages. `src/roles.ts` of the platform decides; `test/rules/portal-rights.test.ts`
 * compares the two. The roles of each kind of account are in the order in which forms offer them.
 */
const rights: Record<AccountType, Partial<Record<Role, readonly Right[]>>> = {
  retailer: {
    admin_user: ['readCampaigns', 'changeCampaigns', 'readEvents', 'changeWebhooks', 'readAuditLog', 'manageAccount'],
    editor: ['readCampaigns', 'changeCampaigns', 'readEvents'],
    viewer: ['readCampaigns', 'readEvents'],
  },
  bank: {
    ADMIN: [
      'readCampaigns',
      'changeCampaigns',
      'readSales',
      'readStatements',
      'readEvents',
      'changeWebhooks',
      'readAuditLog',
      'manageAccount',
    ],
    EDITOR: ['readCampaigns', 'changeCampaigns', 'readSales', 'readStatements', 'readEvents'],
    VIEWER: ['readSales', 'readStatements'],
  },
  platform: {
    admin: ['readEvents', 'changeWebhooks', 'readAuditLog', 'manageAccount', 'readPlatform', 'changePlatform'],
    viewer: ['readEvents', 'readAuditLog', 'readPlatform'],
  },
}

const having =
  (right: Right) =>
  ({ typeAccount, role }: Reader): boolean =>
    rights[typeAccount][role]?.includes(right) ?? false

const mayChangeCampaigns = having('changeCampaigns')
const mayChangePlatform = having('changePlatform')
const mayReadCampaigns = having('readCampaigns')
const mayReadPlatform = having('readPlatform')

/** Whether the person may do more than read: in campaigns or, for the platform's own staff, everywhere. */
export const mayChange = (reader: Reader): boolean => mayChangeCampaigns(reader) || mayChangePlatform(reader)

/** Whether the person may see campaigns: those of the account or, for the platform's own staff, all. */
export const maySeeCampaigns = (reader: Reader): boolean => mayReadCampaigns(reader) || mayReadPlatform(reader)

/** Whether the person of a bank may see eSIM sales, orders and tariffs. */
export const maySeeSales = having('readSales')

export const maySeeStatements = having('readStatements')

/** Whether the person manages the people and credentials of the account. */
export const isManager = having('manageAccount')

/** Whether the person may see the account's events and webhooks. */
export const maySeeEvents = having('readEvents')

export const mayChangeWebhooks = having('changeWebhooks')

/**
 * Whether the person may read the account's audit log. The platform's own staff may read the logs of all accounts.
 */
export const maySeeAuditLog = having('readAuditLog')

/** The roles that people of the account can have. */
export const rolesOf = ({ typeAccount }: Pick<Session, 'typeAccount'>): readonly Role[] =>
  Object.keys(rights[typeAccount]) as Role[]

/** The roles that a bank's credentials can have. */
export const rolesOfBankSystems: readonly components['schemas']['BankRole'][] = ['ADMIN', 'EDITOR', 'VIEWER']
