/**
 * Knows who has lost access while holding a live token: revoked credentials, ended client secrets, disabled users,
 * suspended partners, and ended sessions. It also knows who may connect only from some addresses, and who must set up a
 * second factor first. Each process keeps the list in memory, so that checking a token needs no database. It reads the
 * list again at notifications and every two seconds. Of the ended sessions it reads only the new ones.
 */
import type { Queryable } from '../db/database.ts'
import type { Caller } from './caller.ts'
import { findEndedTokens, findRefused } from './ended-token-store.ts'
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
  refresh(): Promise<void>
  refused(token: Pick<ReadToken, 'caller' | 'id' | 'secretId'>): boolean
  /** Whether the account's policy accepts this caller from an address. */
  admitsAddress(caller: Caller, address: string): boolean
  /** Whether a person must set up a second factor before anything else. */
  lacksFactor(caller: Caller): boolean
  /** True when the list could not be read for so long that this process might accept somebody who has lost access. */
  stale(): boolean
}

/** @param platformMfa the rule for second factors of the platform's people while the platform has set no policy */
export function createRefusals(database: Queryable, platformMfa: Mfa = 'optional'): Refusals {
  let refused = new Set<string>()
  let factorless = new Set<string>()
  let addressLists = new Map<string, KnownLists>()
  let readAtMs = Number.NEGATIVE_INFINITY
  const ended = createEndedTokens(database)
  return {
    async refresh() {
      const startedAtMs = performance.now()
      await ended.refresh()
      const found = new Set(await findRefused(database))
      const foundFactorless = new Set(await listFactorless(database, platformMfa))
      const foundLists = await listAddressLists(database)
      // A refresh that began later has ended earlier. Its result is newer, so this one is dropped.
      if (startedAtMs < readAtMs) return
      refused = found
      factorless = foundFactorless
      addressLists = knownLists(foundLists, addressLists)
      readAtMs = startedAtMs
    },
    refused({ caller, id, secretId }) {
      if (ended.has(id)) return true
      if (refused.size === 0) return false
      if (refused.has(caller.subject)) return true
      if (secretId !== null && refused.has(secretId)) return true
      if (caller.type === 'bank') return refused.has(caller.bankId)
      return caller.type === 'retailer' && refused.has(caller.merchantId)
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

/** Tokens that were ended individually. Each is kept until it would have expired. */
function createEndedTokens(database: Queryable): { refresh(): Promise<void>; has(id: string): boolean } {
  /** The ids of the tokens, each with the time (of `performance.now()`) at which it expires. */
  const ended = new Map<string, number>()
  let lastNumber = 0
  let forgotAtMs = performance.now()
  return {
    async refresh() {
      for (const { id, number, msLeft } of await findEndedTokens(database, lastNumber)) {
        ended.set(id, performance.now() + msLeft)
        lastNumber = Math.max(lastNumber, number)
      }
      if (performance.now() - forgotAtMs < forgetEveryMs) return
      forgotAtMs = performance.now()
      for (const [id, expiresAtMs] of ended) if (expiresAtMs < forgotAtMs) ended.delete(id)
    },
    has: id => ended.has(id),
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
