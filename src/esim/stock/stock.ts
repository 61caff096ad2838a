/**
 * Chooses the profile to try next. For each tariff, a process keeps a window: a list of profiles that were free when it
 * looked, the oldest import first. The window is only a hint: the unique index on live orders decides. So an outdated
 * entry costs one try and never causes a wrong sale.
 *
 * A tariff's position (`stock_positions`) is a profile id: all profiles up to it were reserved or withdrawn at least
 * once. So a free profile is either above the position or in `returned_profiles`. A search skips the sold profiles up
 * to the position, and finds quickly that a tariff is sold out.
 */
import { randomInt } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { createSharedRead } from '../../db/batching.ts'
import type { Queryable, Statement } from '../../db/database.ts'
import { freeReturned, importedFirst, joinLiveOrder, ofTariff } from '../orders/profiles-sql.ts'
import { expire, waitForLapsed } from '../orders/store.ts'

export type Candidate = { profileId: number; msisdn: string }

export type Stock = {
  /**
   * Returns a profile to try; null when none is free. No other caller in this process gets the same profile meanwhile.
   */
  take(tariffId: number): Promise<Candidate | null>
  /**
   * Call this when the candidate's order was made, or when another process had taken the profile. The candidate is not
   * tried again.
   */
  used(tariffId: number, candidate: Candidate): void
  /** Call this when the candidate was not needed. The next caller may get it. */
  giveBack(tariffId: number, candidate: Candidate): void
  /** Call this when another process tries the same profiles. After repeated calls, this process looks further ahead. */
  overlapped(tariffId: number): void
}

const windowSize = 512
const refillBelow = 256
const stepSize = 1_000
const quietMs = 1_000
const returnedAtOnce = 500
const overlapsUntilJump = 16

type Window = {
  free: Candidate[]
  /** Profiles in the window, and profiles that callers are trying. */
  known: Set<number>
  /** How many callers are trying a profile. */
  trying: number
  /** Resolves when the next caller that is trying a profile has finished. After that, a new promise replaces it. */
  settled: PromiseWithResolvers<void>
  /** The highest profile id that was examined to fill the window. */
  scannedUpTo: number
  refilling: boolean
  /**
   * Before this time (`performance.now()`), the window is refilled only when it is empty, because the last refill found
   * hardly any stock.
   */
  quietUntilMs: number
  overlaps: number
  refillNow(): Promise<void>
}

type StockDeps = { database: Queryable; clock: Clock; onError(error: unknown): void }

/**
 * Creates the windows of one process.
 * @param deps.onError called when a refill in the background fails; a later caller refills the window then
 */
export function createStock(deps: StockDeps): Stock {
  const { database } = deps
  const windows = new Map<number, Window>()

  const windowOf = (tariffId: number): Window => {
    let window = windows.get(tariffId)
    if (!window) {
      window = newWindow(() => refillDry(deps, tariffId, windowOf(tariffId)))
      windows.set(tariffId, window)
    }
    return window
  }

  const settle = (tariffId: number): Window => {
    const window = windowOf(tariffId)
    window.trying--
    window.settled.resolve()
    window.settled = Promise.withResolvers()
    return window
  }

  return {
    async take(tariffId) {
      const window = windowOf(tariffId)
      while (window.free.length === 0) {
        // Read `settled` before the refill. If another caller finishes its try during the refill, this promise
        // resolves, and the wait at the end of the loop ends at once.
        const { settled, trying } = window
        await window.refillNow()
        if (window.free.length > 0) break
        // The refill found no free profile. If no caller of this process is trying one, the tariff is sold out.
        // Otherwise wait until one of them has finished: its profile may be free again.
        if (trying === 0 && window.trying === 0) return null
        await settled.promise
      }
      const candidate = window.free.pop()
      if (!candidate) return null
      window.trying++
      const low = window.free.length < refillBelow && !window.refilling
      if (low && performance.now() > window.quietUntilMs) void refillAhead(deps, tariffId, window)
      return candidate
    },

    used(tariffId, candidate) {
      settle(tariffId).known.delete(candidate.profileId)
    },

    giveBack(tariffId, candidate) {
      settle(tariffId).free.push(candidate)
    },

    overlapped(tariffId) {
      const window = windowOf(tariffId)
      if (++window.overlaps < overlapsUntilJump) return
      window.overlaps = 0
      void jumpAhead(database, tariffId, window.scannedUpTo)
        .then(profileId => {
          for (const candidate of window.free) window.known.delete(candidate.profileId)
          window.free = []
          // 0: there is no profile further ahead, so the next refill starts again at the tariff's position.
          window.scannedUpTo = profileId ?? 0
        })
        .catch(deps.onError)
    },
  }
}

const newWindow = (refill: () => Promise<void>): Window => ({
  free: [],
  known: new Set(),
  trying: 0,
  settled: Promise.withResolvers(),
  scannedUpTo: 0,
  refilling: false,
  quietUntilMs: 0,
  overlaps: 0,
  refillNow: createSharedRead(refill),
})

/**
 * Refills an empty window, and stops as soon as it has found a profile. Each round marks some of the reservations that
 * are over as expired, then looks at the returned profiles and at the profiles after the last scan. If a round finds
 * nothing, the next one marks more reservations. When no reservation that is over is left, all profiles above the
 * tariff's position are scanned again. If there is still nothing, it waits for reservations that other processes are
 * changing.
 */
async function refillDry(deps: StockDeps, tariffId: number, window: Window): Promise<void> {
  if (window.free.length > 0) return
  for (;;) {
    const now = deps.clock.now()
    const hasMore = await expire(deps.database, now)
    await addReturned(deps, tariffId, window)
    if (window.free.length > 0) return
    await addUnsold(deps, tariffId, window)
    if (window.free.length > 0) return
    if (hasMore) continue
    window.scannedUpTo = await advancePosition(deps.database, tariffId)
    await addUnsold(deps, tariffId, window)
    if (window.free.length > 0 || !(await waitForLapsed(deps.database, tariffId, now))) return
  }
}

/** Refills a window in the background, before it is empty. */
async function refillAhead(deps: StockDeps, tariffId: number, window: Window): Promise<void> {
  window.refilling = true
  const before = window.free.length
  try {
    await addReturned(deps, tariffId, window)
    await addUnsold(deps, tariffId, window)
    await advancePosition(deps.database, tariffId)
    if (window.free.length <= before) window.quietUntilMs = performance.now() + quietMs
  } catch (error) {
    deps.onError(error)
  } finally {
    window.refilling = false
  }
}

async function addReturned(deps: StockDeps, tariffId: number, window: Window): Promise<void> {
  const rows = await deps.database.query<Candidate>(findReturned, [tariffId, returnedAtOnce])
  // Callers take from the end of the array. Returned profiles are added there, because they were imported earlier than
  // the other profiles.
  const fresh = rows.filter(({ profileId }) => !window.known.has(profileId))
  for (const { profileId } of fresh) window.known.add(profileId)
  window.free.push(...fresh.reverse())
}

async function addUnsold(deps: StockDeps, tariffId: number, window: Window): Promise<void> {
  if (window.scannedUpTo === 0) window.scannedUpTo = await readPosition(deps.database, tariffId)
  const found: Candidate[] = []
  while (found.length < windowSize) {
    const from = window.scannedUpTo
    const rows = await deps.database.query<Candidate & { taken: boolean }>(scanStep, [tariffId, from, stepSize])
    for (const { profileId, msisdn, taken } of rows) {
      if (!taken && !window.known.has(profileId)) {
        window.known.add(profileId)
        found.push({ profileId, msisdn })
      }
    }
    window.scannedUpTo = Math.max(window.scannedUpTo, rows.at(-1)?.profileId ?? from)
    if (rows.length < stepSize) break
  }
  // Callers take from the end of the array, so the oldest profile must be last.
  if (found.length > 0) window.free = [...found.reverse(), ...window.free]
}

// Finds returned profiles. Entries whose profile is on a live order again are skipped before the limit is applied.
// Otherwise many such entries could hide the free profiles.
const findReturned: Statement = {
  name: 'esim.find-returned-profiles',
  text: `
    select r.profile_id as "profileId", p.msisdn
    from (${freeReturned('$1')} limit $2) r
    join profiles p using (profile_id)
    order by r.profile_id`,
}

// Looks at the next profiles of a tariff, with one look-up (`lateral`) for each. With `not exists`, PostgreSQL could
// build a hash table of all orders instead.
const scanStep: Statement = {
  name: 'esim.scan-profiles',
  text: `
    select p.profile_id as "profileId", p.msisdn, o.taken is not null as taken
    from (select profile_id, msisdn from profiles p where ${ofTariff('p', '$1', '$2')} ${importedFirst('p')} limit $3) p
    ${joinLiveOrder('p')}
    order by p.profile_id`,
}

const readPositionStatement: Statement = {
  name: 'esim.read-stock-position',
  text: 'select taken_up_to as "takenUpTo" from stock_positions where tariff_id = $1',
}

async function readPosition(database: Queryable, tariffId: number): Promise<number> {
  const [row] = await database.query<{ takenUpTo: number }>(readPositionStatement, [tariffId])
  return row?.takenUpTo ?? 0
}

/**
 * Moves the tariff's position forward over the profiles that live orders hold, up to the first free one. It never moves
 * back: if the order of a passed profile ends, the same statement puts the profile into `returned_profiles`.
 *
 * @returns the position
 */
async function advancePosition(database: Queryable, tariffId: number): Promise<number> {
  let position = await readPosition(database, tariffId)
  const start = position
  for (;;) {
    const rows = await database.query<{ profileId: number; taken: boolean }>(scanStep, [tariffId, position, stepSize])
    const firstFree = rows.findIndex(({ taken }) => !taken)
    const last = firstFree === -1 ? rows.at(-1) : rows[firstFree - 1]
    if (last) position = last.profileId
    if (firstFree !== -1 || rows.length < stepSize) break
  }
  if (position > start)
    await database.execute(
      `insert into stock_positions (tariff_id, taken_up_to) values ($1, $2)
       on conflict (tariff_id) do update set taken_up_to = greatest(stock_positions.taken_up_to, excluded.taken_up_to)`,
      [tariffId, position],
    )
  return position
}

/**
 * Finds a profile that is further ahead by a random number of windows. The number is random, so that two processes do
 * not jump to the same place. Returns null if the tariff has no profile there.
 */
async function jumpAhead(database: Queryable, tariffId: number, from: number): Promise<number | null> {
  const [row] = await database.query<{ profileId: number }>(
    `select profile_id as "profileId" from profiles p where ${ofTariff('p', '$1', '$2')} ${importedFirst('p')} offset $3 limit 1`,
    [tariffId, from, randomInt(1, 8) * 2 * windowSize],
  )
  return row?.profileId ?? null
}
