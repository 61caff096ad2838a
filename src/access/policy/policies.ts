/** An account's policy: second factors, length of sessions, addresses (contract/people.md, "Policy of an account"). */
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Database, Queryable } from '../../db/database.ts'
import { notify } from '../../db/notifications.ts'
import { type BrokenRule, broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import type { EntryChange } from '../../outbox/audit-entry.ts'
import { recordEntries } from '../../outbox/audit-entry-writing.ts'
import { listChange } from '../../outbox/bounded-change.ts'
import type { Origin } from '../../outbox/origin.ts'
import { ownerAccountOf } from '../operations.ts'
import type { AccountOwner } from '../owners.ts'
import { endPasswordSessions } from '../sessions/session-store.ts'
import type { CountSettingsChange } from '../settings-limit.ts'
import { defaultSessionMinutes } from '../token-keys.ts'
import { createAddressList, isNetwork } from './address-lists.ts'
import * as store from './policy-store.ts'

export type { Policy } from './policy-store.ts'

export type PolicyDeps = { database: Database; countSettingsChange: CountSettingsChange }

/**
 * Returns the policy that an account has set, or the default policy.
 * @param platformMfa the rule for second factors of the platform's people until the platform sets a policy
 */
export async function readPolicy(
  database: Queryable,
  owner: AccountOwner,
  platformMfa: store.Mfa,
): Promise<store.Policy> {
  const found = await store.findPolicy(database, owner)
  if (found) return found
  const mfa = defaultMfa(owner === 'platform', platformMfa)
  return { mfa, sessionMinutes: defaultSessionMinutes, addresses: { people: [], systems: [] } }
}

/**
 * The rule for second factors of an account that has set no policy.
 * @param platformMfa the rule for the platform's people
 */
export const defaultMfa = (isPlatform: boolean, platformMfa: store.Mfa): store.Mfa =>
  isPlatform ? platformMfa : 'optional'

/** The entity tag of a policy: the same for the same content. */
export function policyTag({ mfa, sessionMinutes, addresses: { people, systems } }: store.Policy): string {
  return `"${hash('sha256', JSON.stringify([mfa, sessionMinutes, people, systems])).slice(0, 16)}"`
}

/**
 * Sets an account's whole policy.
 *
 * @param input.platformMfa whether the platform's own people need a second factor; used while the platform has no policy yet
 * @param input.address the network address of the person who sets the policy. If the new list for people does not
 *   contain this address, the change needs `force`
 * @param input.requireExpected throws when the policy has changed since the caller read it
 * @throws DomainError 'invalid' for a text that is no network, or when the new list lacks `address` and `force` is false; 'too-many'
 *   after too many changes within an hour; also the errors of `requireExpected`
 */
export async function setPolicy(
  { database, countSettingsChange }: PolicyDeps,
  owner: AccountOwner,
  input: {
    policy: store.Policy
    platformMfa: store.Mfa
    address: string
    force: boolean
    origin: Origin
    requireExpected(before: store.Policy): void
  },
): Promise<store.Policy> {
  const { policy, address, force } = input
  const { people, systems } = policy.addresses
  const violations = [...networkFaults('addresses.people', people), ...networkFaults('addresses.systems', systems)]
  if (violations.length > 0) throw new DomainError('invalid', violations)
  if (people.length > 0 && !force && !createAddressList(people).has(address))
    throw new DomainError('invalid', [broken('addresses.people', 'own-address', { address })])
  // Count before taking the lock, so that no lock is held during a call to Redis.
  const seen = await readPolicy(database, owner, input.platformMfa)
  input.requireExpected(seen)
  if (!isEmpty(changeOf(seen, policy))) await countSettingsChange(input.origin, ownerAccountOf(owner))
  await database.transaction(async transaction => {
    await store.lockPolicies(transaction)
    const before = await readPolicy(transaction, owner, input.platformMfa)
    input.requireExpected(before)
    // Store the policy even if it equals the default, because the default may change later.
    await store.savePolicy(transaction, owner, policy)
    // While second factors were off, people who have a second factor could log in with the password alone. End those
    // sessions.
    if (before.mfa === 'off' && policy.mfa !== 'off') await endPasswordSessions(transaction, owner)
    await recordPolicy(transaction, owner, input.origin, changeOf(before, policy))
    await notify(transaction, 'access')
  })
  return policy
}

const networkFaults = (field: string, networks: string[]): BrokenRule[] =>
  networks.flatMap((network, index) => (isNetwork(network) ? [] : [broken(`${field}.${index}`, 'network')]))

/** Removes an account's address lists, so that people whom a list has locked out can log in again. */
export async function takeAddressesOff(database: Database, owner: AccountOwner, origin: Origin): Promise<void> {
  await database.transaction(async transaction => {
    await store.lockPolicies(transaction)
    const before = await store.findPolicy(transaction, owner)
    if (before === null) return
    await store.clearAddresses(transaction, owner)
    const change = changeOf(before, { ...before, addresses: { people: [], systems: [] } })
    await recordPolicy(transaction, owner, origin, change)
    await notify(transaction, 'access')
  })
}

/** The fields that differ. */
function changeOf(before: store.Policy, after: store.Policy): EntryChange {
  const lists = (['people', 'systems'] as const).flatMap(name => {
    const [old, present] = [before.addresses[name], after.addresses[name]]
    return isDeepStrictEqual(old, present) ? [] : [[`addresses.${name}`, listChange(old, present)] as const]
  })
  const values = (['mfa', 'sessionMinutes'] as const).flatMap(name =>
    before[name] === after[name] ? [] : [[name, [before[name], after[name]]] as const],
  )
  return Object.fromEntries([...values, ...lists])
}

const isEmpty = (change: EntryChange): boolean => Object.keys(change).length === 0

async function recordPolicy(
  transaction: Queryable,
  owner: AccountOwner,
  origin: Origin,
  change: EntryChange,
): Promise<void> {
  if (isEmpty(change)) return
  const object = { type: 'policy', id: null }
  await recordEntries(transaction, origin, [{ action: 'policy.changed', object, owner: ownerAccountOf(owner), change }])
}
