/**
 * Counts refused logins and addresses. Every ten minutes it writes one entry for each known login, and one for all
 * unknown logins together (contract/audit-log.md, "Refusals"). So guessing fills neither the log nor the memory, and
 * what was typed is not stored.
 */
import type { Caller, Trace } from '../access/caller.ts'
import { realNow } from '../clock.ts'
import type { Database } from '../db/database.ts'
import type { EntryObject } from './entry.ts'
import { type Origin, originOfCaller, unknownOrigin } from './origin.ts'
import { type Fact, tellEntries } from './tell.ts'

export type Refused = {
  action: 'login.refused' | 'address.refused'
  /** The owner of the login or credential; null: it is unknown. */
  caller: Caller | null
  trace: Trace
}

export type RefusalSums = {
  /** Counts a refusal. Takes no time and never fails. */
  add(refused: Refused): void
  /** Writes the counts. Counts that cannot be written are kept, and `onError` gets the error. */
  flush(): Promise<void>
  /** Writes the counts for the last time. */
  close(): Promise<void>
}

const sumMs = 10 * 60_000
/** More known logins than this are counted with the unknown ones. */
const maxLogins = 1_000
/** Of one login; further addresses are not counted. */
const maxAddresses = 1_000
const maxAddressesOfUnknown = 10_000

type Sum = {
  origin: Origin
  fact: Pick<Fact, 'action' | 'object' | 'owner'>
  tries: number
  addresses: Set<string>
  since: Date
}

/** @param onError called when entries could not be stored */
export function createRefusalSums(database: Database, onError: (error: unknown) => void): RefusalSums {
  let sums = new Map<string, Sum>()
  let timer: NodeJS.Timeout | null = null
  let writing = Promise.resolve()

  const put = (key: string, added: Sum) => {
    timer ??= setTimeout(() => void flush(), sumMs).unref()
    const sum = sums.get(key)
    if (!sum) return void sums.set(key, added)
    sum.tries += added.tries
    if (added.since < sum.since) sum.since = added.since
    const max = key === unknownKey ? maxAddressesOfUnknown : maxAddresses
    for (const address of added.addresses) if (sum.addresses.size < max) sum.addresses.add(address)
  }
  const write = async () => {
    if (timer) clearTimeout(timer)
    timer = null
    const written = sums
    sums = new Map()
    if (written.size === 0) return
    await store(database, [...written.values()]).catch((error: unknown) => {
      for (const [key, sum] of written) put(key, sum)
      onError(error)
    })
  }
  const flush = () => {
    writing = writing.then(write)
    return writing
  }

  return {
    add(refused) {
      const known = refused.caller && `${refused.action} ${refused.caller.subject}`
      const isNamed = known !== null && (sums.has(known) || sums.size < maxLogins)
      put(isNamed ? known : unknownKey, newSum(isNamed ? refused : { ...refused, caller: null }))
    },
    flush,
    async close() {
      await flush()
      if (timer) clearTimeout(timer)
    },
  }
}

const unknownKey = 'unknown'

function newSum({ action, caller, trace }: Refused): Sum {
  const origin = caller && originOfCaller({ ...caller, trace })
  // A login from a refused address had the right password, so we know who it was. After a wrong password we do not.
  const isProven = origin !== null && action === 'address.refused'
  return {
    origin: isProven ? origin : unknownOrigin(trace),
    fact: {
      action: origin ? action : 'login.refused',
      object: objectOf(caller),
      ...(origin && { owner: origin.account }),
    },
    tries: 1,
    addresses: new Set([trace.address]),
    since: realNow(),
  }
}

function objectOf(caller: Caller | null): EntryObject {
  if (caller === null) return { type: 'login', id: null }
  return { type: caller.userType === 'portal_user' ? 'user' : 'credential', id: caller.subject }
}

/** Stores all entries in one transaction of their own. */
async function store(database: Database, sums: readonly Sum[]): Promise<void> {
  await database.transaction(async transaction => {
    for (const { origin, fact, tries, addresses, since } of sums) {
      const [first = null] = addresses
      const address = addresses.size === 1 ? first : null
      const change = {
        tries: [null, tries],
        addresses: [null, addresses.size],
        since: [null, since.toISOString()],
      } as const
      await tellEntries(transaction, { ...origin, requestId: null, address }, [{ ...fact, outcome: 'refused', change }])
    }
  })
}
