/**
 * What a role may do. Pages use it to hide actions that the platform would refuse. The platform itself checks every
 * request.
 */
import type { Role, Session } from './session.ts'

type Reader = Pick<Session, 'typeAccount' | 'role'>

const mayChangeRoles: Record<Session['typeAccount'], readonly Role[]> = {
  retailer: ['admin_user', 'editor', 'gateway'],
  bank: ['ADMIN', 'EDITOR'],
  platform: ['admin'],
}

/** Whether the person may do more than read. */
export const mayChange = ({ typeAccount, role }: Reader): boolean => mayChangeRoles[typeAccount].includes(role)

/** A bank's VIEWER sees eSIM sales only: every bank endpoint of campaigns needs ADMIN or EDITOR. */
export const maySeeCampaigns = ({ typeAccount, role }: Reader): boolean => typeAccount !== 'bank' || role !== 'VIEWER'

const managerRole: Record<Session['typeAccount'], Role> = { retailer: 'admin_user', bank: 'ADMIN', platform: 'admin' }

/** Whether the person manages the people and credentials of the account. */
export const isManager = ({ typeAccount, role }: Reader): boolean => role === managerRole[typeAccount]

/** Whether the person may see the account's events and webhooks. Only managers may change webhooks. */
export const maySeeEvents = maySeeCampaigns

/**
 * Whether the person may read the account's audit log. The platform's own staff may read the logs of all accounts.
 */
export const maySeeAuditLog = (reader: Reader): boolean => reader.typeAccount === 'platform' || isManager(reader)

const roles: Record<Session['typeAccount'], readonly Role[]> = {
  retailer: ['admin_user', 'editor', 'viewer'],
  bank: ['ADMIN', 'EDITOR', 'VIEWER'],
  platform: ['admin', 'viewer'],
}

/** The roles that people of the account can have. */
export const rolesOf = ({ typeAccount }: Pick<Session, 'typeAccount'>): readonly Role[] => roles[typeAccount]
