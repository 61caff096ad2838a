/**
 * Refused logins and addresses, summed up: every ten minutes one entry for each known login, and one for all unknown ones together
 * (contract/audit-log.md, "Refusals"). So whoever guesses fills neither the log nor the memory, and what was typed is kept nowhere.
 */
import type { Caller, Trace } from '../access/caller.ts'
import { realNow } from '../clock.ts'
import type { Database } from '../db/database.ts'
import type { EntryObject } from './entry.ts'
import { type Origin, originOfCaller, unknownOrigin } from './origin.ts'
import { type Fact, tellEntries } from './tell.ts'

export type Refused = {
  action: 'login.refused' | 'address.refused'
  /** Whose login or credential it is; null: nobody's that is known. */
  caller: Caller | null
  trace: Trace
}

export type RefusalSums = {
  /** Counts a refusal; it takes no time and never fails. */
  add(refused: Refused): void
  /** Writes what was counted. What cannot be written is kept, and told to `onFault`. */
  flush(): Promise<void>
  /** Writes what was counted, for the last time. */
  close(): Promise<void>
}

const sumMs = 10 * 60_000
/** Further known logins are counted with the unknown ones. */
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

/** @param onFault told when entries could not be stored */
export function createRefusalSums(database: Database, onFault: (error: unknown) => void): RefusalSums {
  let sums = new Map<string, Sum>()
  let timer: NodeJS.Timeout | null = null
  let writing = Promise.resolve()

  const put = (key: string, added: Sum) => {
    timer ??= setTimeout(() => void flush(), sumMs).unref()
    const sum = sums.get(key)
    if (!sum) return void sums.set(key, added)
    sum.tries += added.tries
    if (added.since < sum.since) sum.since = added.since
    const most = key === unknownKey ? maxAddressesOfUnknown : maxAddresses
    for (const address of added.addresses) if (sum.addresses.size < most) sum.addresses.add(address)
  }
  const write = async () => {
    if (timer) clearTimeout(timer)
    timer = null
    const written = sums
    sums = new Map()
    if (written.size === 0) return
    await store(database, [...written.values()]).catch((error: unknown) => {
      for (const [key, sum] of written) put(key, sum)
      onFault(error)
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
  // Who was let in from nowhere has shown who it is; who has a login wrong has not.
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

/** All in one transaction, apart from every change. */
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
