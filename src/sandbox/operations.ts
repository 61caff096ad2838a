/**
 * The sandbox clock (contract/operations.md, "The clock of the sandbox"). The database stores how far the clock is
 * ahead of real time, so all processes have the same time. The clock can only be moved forwards; a reset returns to
 * real time. A request that changes the clock is answered after all work that became due is done.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, realMs } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { notify } from '../db/notifications.ts'
import { countServing } from '../db/versions.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { type Origin, unknownOrigin } from '../outbox/origin.ts'
import { addDuration, isDuration } from '../text/duration.ts'
import { instantRule, readInstant } from '../text/instant.ts'

export type SandboxDeps = {
  /** Who moves the clock; default: an unknown caller. */
  origin?: Origin
  database: Database
  clock: Clock
  /** Called before the clock moves, for work that must still see the old time. */
  beforeMove(): Promise<void>
  /**
   * Copies recorded events into the event feeds, creates webhook deliveries for them, and attempts each waiting
   * delivery once.
   *
   * @param endsAtMs no attempt begins after this time (`performance.now()`)
   * @returns how many deliveries were attempted
   */
  deliverWebhooks(endsAtMs: number): Promise<number>
  /** Does everything that is due by the clock. */
  runDue(): Promise<void>
}

export type ClockReading = { now: string; offsetSeconds: number }

export function readClock(clock: Clock): ClockReading {
  return { now: clock.now().toISOString(), offsetSeconds: clock.offsetMs() / 1000 }
}

/** Sets the clock of this process to the offset that all processes share. */
export async function followSharedClock(database: Queryable, clock: Clock): Promise<void> {
  const asOfMs = performance.now()
  const [row] = await database.query<{ offsetMs: number }>('select offset_ms as "offsetMs" from sandbox_clock')
  if (row) clock.setOffsetMs(row.offsetMs, asOfMs)
}

/**
 * The latest time to which the clock can be moved. Later times are computed from it, such as the end of a reservation,
 * and their years must have four digits, too.
 */
const endOfTime = Date.UTC(9900, 0, 1)

/**
 * Moves the clock ahead by an ISO 8601 duration, or to an instant (POST /sandbox/clock).
 *
 * @throws DomainError 'invalid' when it would not move forwards
 */
export function moveClock(deps: SandboxDeps, input: { advance: string } | { now: string }): Promise<ClockReading> {
  return changeOffset(deps, currentMs => {
    // The time is rounded, because the shared offset is in whole milliseconds.
    const nowMs = Math.round(realMs())
    const target = 'advance' in input ? addDuration(new Date(nowMs + currentMs), input.advance) : readInstant(input.now)
    const field = 'advance' in input ? 'advance' : 'now'
    // For a valid duration that is too long, `addDuration` returns null.
    const isForm = 'advance' in input ? isDuration(input.advance) : target !== null
    if (!isForm)
      throw new DomainError('invalid', [field === 'advance' ? broken(field, 'duration') : { field, ...instantRule }])
    if (target === null || target.getTime() >= endOfTime)
      throw new DomainError('invalid', [broken(field, 'before-end-of-time')])
    const offsetMs = target.getTime() - nowMs
    if (offsetMs < currentMs) throw new DomainError('invalid', [broken('now', 'clock-forwards')])
    return offsetMs
  })
}

/** Returns to real time (DELETE /sandbox/clock). Work that was done is not undone. */
export function resetClock(deps: SandboxDeps): Promise<ClockReading> {
  return changeOffset(deps, () => 0)
}

async function changeOffset(deps: SandboxDeps, decide: (currentMs: number) => number): Promise<ClockReading> {
  await deps.beforeMove()
  await deps.database.transaction(async transaction => {
    const [row] = await transaction.query<{ offsetMs: number }>(
      'select offset_ms as "offsetMs" from sandbox_clock for update',
    )
    const before = row?.offsetMs ?? 0
    const offsetMs = decide(before)
    await transaction.execute('update sandbox_clock set offset_ms = $1', [offsetMs])
    await recordEntries(transaction, deps.origin ?? unknownOrigin(), [
      { action: 'clock.moved', object: { type: 'clock', id: null }, change: { offsetMs: [before, offsetMs] } },
    ])
    await notify(transaction, 'clock')
  })
  await followSharedClock(deps.database, deps.clock)
  const reading = readClock(deps.clock)
  await Promise.all([deps.runDue(), untilOthersHeard(deps.database)])
  return reading
}

/**
 * How long to wait until the other processes know a new time. A notification reaches them within milliseconds, so this
 * wait is long enough.
 */
const heardWithinMs = 100

/** Waits until other processes know the new time. A client may ask another process right after this answer. */
async function untilOthersHeard(database: Queryable): Promise<void> {
  if ((await countServing(database)) > 1) await sleep(heardWithinMs)
}
