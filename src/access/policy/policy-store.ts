/** All SQL of the security policies of accounts. */
import type { Queryable } from '../../db/database.ts'
import { type AccountOwner, ofOwner, ownerId, ownerIds } from '../owners.ts'

export const mfaRules = ['off', 'optional', 'required'] as const
/** An account's rule for second factors: not used, optional or required. */
export type Mfa = (typeof mfaRules)[number]

export type Policy = {
  mfa: Mfa
  /** How long a person's token is valid. */
  sessionMinutes: number
  /** Networks (CIDR) from which people and systems may connect; empty: from everywhere. */
  addresses: { people: string[]; systems: string[] }
}

/**
 * Returns SQL that selects the policy of an account. `alias` names a row with the account's `bank_id` and
 * `merchant_id`. Each kind of account has a `select` of its own, so that the index on its column is used.
 */
export const policyOf = (alias: string): string => `
  select mfa, session_minutes from account_policies where bank_id = ${alias}.bank_id
  union all select mfa, session_minutes from account_policies where merchant_id = ${alias}.merchant_id
  union all select mfa, session_minutes from account_policies
    where bank_id is null and merchant_id is null and ${alias}.bank_id is null and ${alias}.merchant_id is null`

/** Finds the policy that an account has set. @returns null when the account has never set one */
export async function findPolicy(database: Queryable, owner: AccountOwner): Promise<Policy | null> {
  type Row = { mfa: Mfa; sessionMinutes: number; people: string[]; systems: string[] }
  const [row] = await database.query<Row>(
    `select p.mfa, p.session_minutes as "sessionMinutes", p.people_addresses as people, p.system_addresses as systems
     from account_policies p where ${ofOwner(owner, 'p')}`,
    [ownerId(owner)],
  )
  if (!row) return null
  const { mfa, sessionMinutes, people, systems } = row
  return { mfa, sessionMinutes, addresses: { people, systems } }
}

const policiesLock = 7_365_040

/** Blocks other changes of policies until the transaction ends, even for an account that has no policy yet. */
export async function lockPolicies(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [policiesLock])
}

/** Blocks changes of policies until the transaction ends. Several transactions may do this at the same time. */
export async function holdPolicies(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock_shared($1)', [policiesLock])
}

/** Stores an account's policy in place of any earlier one. */
export async function savePolicy(database: Queryable, owner: AccountOwner, policy: Policy): Promise<void> {
  const target = owner === 'platform' ? '((true)) where bank_id is null and merchant_id is null' : conflictOf(owner)
  await database.execute(
    `insert into account_policies (bank_id, merchant_id, mfa, session_minutes, people_addresses, system_addresses, changed_at)
     values ($1, $2, $3, $4, $5, $6, now())
     on conflict ${target} do update set mfa = excluded.mfa, session_minutes = excluded.session_minutes,
       people_addresses = excluded.people_addresses, system_addresses = excluded.system_addresses, changed_at = excluded.changed_at`,
    [...ownerIds(owner), policy.mfa, policy.sessionMinutes, policy.addresses.people, policy.addresses.systems],
  )
}

const conflictOf = (owner: Exclude<AccountOwner, 'platform'>): string =>
  'bankId' in owner ? '(bank_id)' : '(merchant_id)'

/** Lets an account's people and systems connect from everywhere. */
export async function clearAddresses(database: Queryable, owner: AccountOwner): Promise<void> {
  await database.execute(
    `update account_policies p set people_addresses = '{}', system_addresses = '{}', changed_at = now() where ${ofOwner(owner, 'p')}`,
    [ownerId(owner)],
  )
}

/** The address lists of an account. `accountId` is null for the platform. */
export type AddressLists = { accountId: string | null; people: string[]; systems: string[] }

/** Every account with an address list. */
export function listAddressLists(database: Queryable): Promise<AddressLists[]> {
  return database.query({
    name: 'access.address-lists',
    text: `select coalesce(bank_id, merchant_id)::text as "accountId", people_addresses as people, system_addresses as systems
           from account_policies where people_addresses <> '{}' or system_addresses <> '{}'`,
  })
}

/**
 * The people who must set up a second factor before they may do anything else.
 *
 * @param platformMfa the rule for the platform's people until the platform sets a policy
 */
export async function listFactorless(database: Queryable, platformMfa: Mfa): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    {
      name: 'access.factorless',
      text: `
        select u.user_id::text as id from account_policies p join portal_users u on u.bank_id = p.bank_id
        where p.mfa = 'required' and not u.has_factor and u.disabled_at is null
        union all
        select u.user_id::text from account_policies p join portal_users u on u.merchant_id = p.merchant_id
        where p.mfa = 'required' and not u.has_factor and u.disabled_at is null
        union all
        select u.user_id::text from portal_users u
        where u.bank_id is null and u.merchant_id is null and not u.has_factor and u.disabled_at is null
          and coalesce((select mfa from account_policies where bank_id is null and merchant_id is null), $1) = 'required'`,
    },
    [platformMfa],
  )
  return rows.map(({ id }) => id)
}
