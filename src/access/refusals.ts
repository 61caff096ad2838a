/**
 * Knows who has lost access while their tokens have not expired: revoked credentials, ended client secrets, disabled
 * users, suspended partners, and ended sessions. It also knows who may connect only from some addresses, and who must
 * set up a second factor first. Each process keeps this in memory, so that checking a token needs no database. It is
 * refreshed at notifications and every two seconds. For ended access, a refresh reads only what is new.
 */

import type { Caller } from '../caller.ts'
import { realMs } from '../clock.ts'
import { createSharedRead } from '../db/batching.ts'
import type { Queryable } from '../db/database.ts'
import { type Ended, findEndedAccess, findEndedTokens, findSuspended } from './ended-token-store.ts'
import { type AddressList, createAddressList } from './policy/address-lists.ts'
import { type AddressLists, listAddressLists, listFactorless, type Mfa } from './policy/policy-store.ts'
import type { ReadToken } from './tokens.ts'

/**
 * The promise of contract/access.md, "Losing access": within 10 seconds, every process refuses somebody who has lost
 * access.
 */
const staleAfterMs = 10_000
const forgetEveryMs = 60_000

export type Refusals = {
  /** Reads the changes. Concurrent callers share a read only if it begins after their calls. */
  refresh(): Promise<void>
  /**
   * Makes the next `refresh` read everything. This is needed after a failover that has lost commits: the database may
   * then give new changes the numbers of changes that this process has already read.
   */
  distrust(): void
  refused(token: Pick<ReadToken, 'caller' | 'id' | 'secretId'>): boolean
  /** Whether the account's policy accepts this caller from an address. */
  admitsAddress(caller: Caller, address: string): boolean
  /** Whether a person must set up a second factor before anything else. */
  lacksFactor(caller: Caller): boolean
  /** True when the list could not be read for so long that this process might accept somebody who has lost access. */
  stale(): boolean
}

/** @param platformMfa the rule for second factors of the platform's people until the platform sets a policy */
export function createRefusals(database: Queryable, platformMfa: Mfa = 'optional'): Refusals {
  let suspended = new Set<string>()
  let factorless = new Set<string>()
  let addressLists = new Map<string, KnownLists>()
  let readAtMs = Number.NEGATIVE_INFINITY
  const tokens = createEndedIds(after => findEndedTokens(database, after))
  const access = createEndedIds(after => findEndedAccess(database, after))
  return {
    refresh: createSharedRead(async () => {
      const startedAtMs = performance.now()
      const adopts = [await tokens.read(), await access.read()]
      const foundSuspended = new Set(await findSuspended(database))
      const foundFactorless = new Set(await listFactorless(database, platformMfa))
      const foundLists = await listAddressLists(database)
      // A refresh that began later has already finished. Its result is newer, so drop this one.
      if (startedAtMs < readAtMs) return
      for (const adopt of adopts) adopt()
      suspended = foundSuspended
      factorless = foundFactorless
      addressLists = knownLists(foundLists, addressLists)
      readAtMs = startedAtMs
    }),
    distrust() {
      for (const ids of [tokens, access]) ids.distrust()
    },
    refused({ caller, id, secretId }) {
      if (tokens.has(id) || access.has(caller.subject)) return true
      if (secretId !== null && access.has(secretId)) return true
      if (suspended.size === 0) return false
      if (caller.type === 'bank') return suspended.has(caller.bankId)
      return caller.type === 'retailer' && suspended.has(caller.merchantId)
    },
    admitsAddress(caller, address) {
      if (addressLists.size === 0) return true
      const lists = addressLists.get(accountKey(caller))
      const list = caller.userType === 'portal_user' ? lists?.people : lists?.systems
      return !list || list.has(address)
    },
    lacksFactor: ({ userType, subject }) => userType === 'portal_user' && factorless.has(subject),
    stale: () => performance.now() - readAtMs > staleAfterMs,
  }
}

type EndedIds = {
  /** Reads the changes since the last read. @returns a function that applies them */
  read(): Promise<() => void>
  /** Makes the next read start from the first change and replace all ids. */
  distrust(): void
  has(id: string): boolean
}

/**
 * Collects ids whose tokens are refused. Each id is kept until its last token has expired.
 * @param find finds the changes whose numbers are higher than `after`, ordered by number
 */
function createEndedIds(find: (after: number) => Promise<Ended[]>): EndedIds {
  /** When the access of an id ends, and when the id is forgotten, in real milliseconds. */
  const known = new Map<string, { endsAtMs: number; forgetAtMs: number }>()
  /** The number of the last applied change. `isAnew` is true after `distrust`, until a read has replaced all ids. */
  let reached = { number: 0, isAnew: false }
  let forgotAtMs = realMs()
  const forgetOld = () => {
    if (realMs() - forgotAtMs < forgetEveryMs) return
    forgotAtMs = realMs()
    for (const [id, { forgetAtMs }] of known) if (forgetAtMs < forgotAtMs) known.delete(id)
  }
  return {
    async read() {
      const from = reached
      const found = await find(from.number)
      return () => {
        if (from.isAnew) known.clear()
        from.isAnew = false
        for (const { id, number, endsAt, forgetAt } of found) {
          from.number = Math.max(from.number, number)
          if (endsAt === null) known.delete(id)
          else known.set(id, { endsAtMs: endsAt.getTime(), forgetAtMs: forgetAt.getTime() })
        }
        forgetOld()
      }
    },
    distrust() {
      reached = { number: 0, isAnew: true }
    },
    has(id) {
      const end = known.get(id)
      return end !== undefined && end.endsAtMs <= realMs()
    },
  }
}

type KnownLists = { text: string; people: AddressList | null; systems: AddressList | null }

const platformKey = 'platform'
const accountKey = (caller: Caller): string =>
  caller.type === 'bank' ? caller.bankId : caller.type === 'retailer' ? caller.merchantId : platformKey

/** The address lists of the accounts. A list that has not changed is used again, because creating a list takes time. */
function knownLists(found: AddressLists[], before: Map<string, KnownLists>): Map<string, KnownLists> {
  const made = (networks: string[]) => (networks.length === 0 ? null : createAddressList(networks))
  return new Map(
    found.map(({ accountId, people, systems }) => {
      const key = accountId ?? platformKey
      const text = JSON.stringify([people, systems])
      const known = before.get(key)
      return [key, known?.text === text ? known : { text, people: made(people), systems: made(systems) }]
    }),
  )
}
