/** The addresses at which people reach the platform. */
import type { AccountOwner } from '../access/owners.ts'

export type Addresses = {
  /** The address of the platform for partners. */
  publicUrl: string
  /** The address at which the platform's own people work. */
  staffUrl: string
}

/** The address for the people of this account. */
export const addressFor = ({ publicUrl, staffUrl }: Addresses, owner: AccountOwner): string =>
  owner === 'platform' ? staffUrl : publicUrl
