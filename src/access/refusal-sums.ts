/**
 * Counts refused attempts to log in, and the addresses that they came from. Every ten minutes it writes one entry for
 * each known login, and one for all unknown logins together (contract/audit-log.md, "Refusals"). So an attacker who
 * guesses passwords cannot fill the log or the memory. What users typed is not stored. The counts are stored every few
 * seconds, so that a killed process loses only the counts of its last seconds.
 */
import { randomUUID } from 'node:crypto'
import type { Caller, Trace } from '../caller.ts'
import { realNow } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import type { Entry, EntryObject } from '../outbox/audit-entry.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { type Origin, originOfCaller, unknownOrigin } from '../outbox/origin.ts'
import { forgetSums, type KeptSum, keepSums, type Lacking, takeLostSums } from './refusal-store.ts'

export type Refused = {
  action: 'login.refused' | 'address.refused'
  /** The owner of the login or credential; null: it is unknown. */
  caller: Caller | null
  trace: Trace
  /** What was wrong with a login; left out for a refused address. */
  lacking?: Lacking
}

export type RefusalSums = {
  /** Counts a refusal. Returns at once and never fails. */
  add(refused: Refused): void
  /** Writes the counts. Counts that cannot be written are kept, and `onError` gets the error. */
  flush(): Promise<void>
  /** Writes the counts for the last time. */
  close(): Promise<void>
}

const sumMs = 10 * 60_000
const keepMs = 5_000
/**
 * The maximum number of known logins that are counted separately. Further ones are counted with the unknown logins.
 */
const maxLogins = 1_000
/** The maximum number of addresses that are stored for one login. */
const maxAddresses = 1_000
const maxAddressesOfUnknown = 10_000

type Sum = Omit<KeptSum, 'addresses'> & { addresses: Set<string> }

/** @param onError called when entries could not be stored */
export function createRefusalSums(database: Database, onError: (error: unknown) => void): RefusalSums {
  const processId = randomUUID()
  let sums = new Map<string, Sum>()
  /** The keys of the sums that have changed since they were last stored. */
  const unkept = new Set<string>()
  let timer: NodeJS.Timeout | null = null
  let keepTimer: NodeJS.Timeout | null = null
  let writing = Promise.resolve()

  const put = (key: string, added: Sum) => {
    timer ??= setTimeout(() => void flush(), sumMs).unref()
    keepTimer ??= setTimeout(() => void keep(), keepMs).unref()
    unkept.add(key)
    const sum = sums.get(key)
    if (sum) addTo(sum, added, key === unknownKey ? maxAddressesOfUnknown : maxAddresses)
    else sums.set(key, added)
  }
  const write = async () => {
    if (timer) clearTimeout(timer)
    timer = null
    const written = sums
    sums = new Map()
    unkept.clear()
    if (written.size === 0) return
    await database
      .transaction(async transaction => {
        await recordSums(transaction, [...written.values()].map(keptOf))
        await forgetSums(transaction, processId)
      })
      .catch((error: unknown) => {
        for (const [key, sum] of written) put(key, sum)
        onError(error)
      })
  }
  const keepNow = async () => {
    keepTimer = null
    const kept = [...unkept].flatMap(key => {
      const sum = sums.get(key)
      return sum ? [[key, keptOf(sum)] as const] : []
    })
    unkept.clear()
    if (kept.length === 0) return
    await keepSums(database, processId, kept).catch((error: unknown) => {
      for (const [key] of kept) unkept.add(key)
      keepTimer ??= setTimeout(() => void keep(), keepMs).unref()
      onError(error)
    })
  }
  /**
   * Runs `work` after all earlier writes. If two writes ran at the same time, one could store sums again that the other
   * has already written as entries.
   */
  const after = (work: () => Promise<void>) => {
    writing = writing.then(work)
    return writing
  }
  const flush = () => after(write)
  const keep = () => after(keepNow)

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
      if (keepTimer) clearTimeout(keepTimer)
    },
  }
}

/** @param max the maximum number of addresses in the sum */
function addTo(sum: Sum, added: Sum, max: number): void {
  sum.tries += added.tries
  sum.byPortal += added.byPortal
  for (const [lacking, tries] of Object.entries(added.lacking) as [Lacking, number][])
    sum.lacking[lacking] = (sum.lacking[lacking] ?? 0) + tries
  if (added.since < sum.since) sum.since = added.since
  for (const address of added.addresses) if (sum.addresses.size < max) sum.addresses.add(address)
}

const keptOf = (sum: Sum): KeptSum => ({ ...sum, addresses: [...sum.addresses] })

const unknownKey = 'unknown'

function newSum({ action, caller, trace, lacking }: Refused): Sum {
  const origin = caller && originOfCaller({ ...caller, trace })
  // The entry names an actor only if the password was right and the address was refused. After a wrong password, we
  // cannot know who tried.
  const isProven = origin !== null && action === 'address.refused'
  return {
    origin: isProven ? origin : unknownOrigin(trace),
    fact: {
      action: origin ? action : 'login.refused',
      object: objectOf(caller),
      ...(origin && { owner: origin.account }),
    },
    tries: 1,
    byPortal: trace.via === 'portal' ? 1 : 0,
    lacking: lacking ? { [lacking]: 1 } : {},
    addresses: new Set([trace.address]),
    since: realNow().toISOString(),
  }
}

function objectOf(caller: Caller | null): EntryObject {
  if (caller === null) return { type: 'login', id: null }
  return { type: caller.userType === 'portal_user' ? 'user' : 'credential', id: caller.subject }
}

/** Writes one audit entry for each sum. */
async function recordSums(transaction: Queryable, sums: readonly KeptSum[]): Promise<void> {
  for (const { fact, ...sum } of sums)
    await recordEntries(transaction, originOfSum(sum), [{ ...fact, outcome: 'refused', change: changeOf(sum) }])
}

type Counted = Omit<KeptSum, 'fact'>

/**
 * Returns the origin of an entry about many tries. If some tries came through the portal and some through the API,
 * the entry names the API, because the portal is a client of it.
 */
function originOfSum({ origin, addresses, tries, byPortal }: Counted): Origin {
  const [first = null] = addresses
  const via = byPortal === tries ? 'portal' : byPortal > 0 ? 'api' : origin.via
  return { ...origin, via, requestId: null, address: addresses.length === 1 ? first : null }
}

const lackingFields = {
  password: 'wrongPasswords',
  code: 'wrongCodes',
  'no-code': 'withoutCode',
  secret: 'wrongSecrets',
  access: 'withoutAccess',
} as const satisfies Record<Lacking, string>

/** Returns the counts for an entry. A reason that never occurred is left out. */
function changeOf({ tries, byPortal, lacking, addresses, since }: Counted): Entry['change'] {
  const counts = (Object.keys(lackingFields) as Lacking[]).flatMap(kind =>
    lacking[kind] ? [[lackingFields[kind], [null, lacking[kind]]] as const] : [],
  )
  return {
    tries: [null, tries],
    ...Object.fromEntries(counts),
    ...(byPortal > 0 && byPortal < tries && { byPortal: [null, byPortal] }),
    addresses: [null, addresses.length],
    since: [null, since],
  }
}

/**
 * Sums that were unchanged for this long belong to a process that has ended. A live process writes its sums every ten
 * minutes, and stores them again if that fails.
 */
const lostMinutes = 30
const lostAtOnce = 200

/** Records some of the refusals that a killed process had counted. @returns whether there may be more */
export function recordLostRefusals(database: Database): Promise<boolean> {
  return database.transaction(async transaction => {
    const lost = await takeLostSums(transaction, { minutes: lostMinutes, limit: lostAtOnce })
    await recordSums(transaction, lost)
    return lost.length === lostAtOnce
  })
}
