/**
 * Background jobs. Answers are correct even if a job has not run yet: each read takes into account what is due, and the
 * job only stores the result. Several processes may run the jobs at once; their statements share the work.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { recordOverlapsEnding } from '../access/credential-store.ts'
import type { LoginFailure } from '../access/proofs.ts'
import { type RefusalSums, recordLostRefusals } from '../access/refusal-sums.ts'
import { tellUnfinishedLogins } from '../access/unfinished-logins.ts'
import { chainEntries } from '../audit-log/chain-store.ts'
import { type CheckpointDeps, makeHourlyCheckpoint } from '../audit-log/checkpoints.ts'
import { removeOldEntries } from '../audit-log/lines-store.ts'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { updateDueCampaigns } from '../campaigns/lifecycle/clock-job.ts'
import { reportExpiring } from '../esim/orders/expiry-warning.ts'
import { endLostMails } from '../esim/orders/mail-store.ts'
import { expire, forgetSold } from '../esim/orders/store.ts'
import { foldSales } from '../esim/sold/fold-store.ts'
import { hashActivationCodes } from '../esim/stock/activation-hashes.ts'
import type { Sealing } from '../esim/stock/sealing.ts'
import { reportAvailability, reportStockLevels } from '../esim/stock/stock-events.ts'
import { dropOldEvents } from '../events/retention-store.ts'
import { sequenceEvents } from '../events/sequence-store.ts'
import type { Answers } from '../idempotency/answers.ts'
import type { Logger } from '../log.ts'
import { emptyOldSlots } from '../outbox/tick-store.ts'
import { answerResetRequests, forgetPeople, sendMails } from '../people/jobs.ts'
import type { PeopleDeps } from '../people/managers.ts'
import { type RetentionDays, removeOld } from '../retention/removal.ts'
import { type ClosingDeps, closeStatements } from '../statements/closing.ts'
import { makeLines } from '../statements/lines-store.ts'
import { endLostTests } from '../webhooks/delivery-store.ts'
import { handOverAll } from '../webhooks/hand-over-store.ts'
import { judgeEndpoints } from '../webhooks/health.ts'

export type JobDeps = CampaignDeps &
  ClosingDeps & {
    answers: Pick<Answers, 'forgetOld'>
    retention: RetentionDays
    sealing: Sealing
    logger: Pick<Logger, 'warn'>
    people: PeopleDeps
    /** The dependencies with which checkpoints of the audit log are made. */
    checkpoints: CheckpointDeps
    refusalSums: Pick<RefusalSums, 'add'>
    /** Called with each login that was begun but not finished, to log it. */
    observeFailure(failure: LoginFailure): void
    auditYears: number
    /** Days that events are kept. */
    eventDays: number
    /** Called with the number of events of each type that were numbered. */
    observeEvents(counts: Record<string, number>): void
    /** Called when webhook deliveries may have been made. */
    onHandedOver(): void
  }

/** Observes the jobs: it is called once when a job starts, and after each successful run. */
export type JobObserver = {
  jobStarts(job: string, everyMs: number): void
  jobSucceeds(job: string, seconds: number): void
}

type Job = {
  name: string
  everyMs: number
  /** The interval after a run that had work; default: `everyMs`. */
  busyEveryMs?: number
  /**
   * The name of another job. While that job has more work, this job does only one batch of its own work per interval.
   */
  yieldsTo?: string
  /**
   * The longest time for which a change of the sandbox clock waits for this job. Default: it waits until nothing is
   * due.
   */
  waitedForMs?: number
  /**
   * Does a limited part of the work that is due.
   *
   * @param waits true: waits for rows that other transactions have locked; false: skips locked rows. A job may always
   *   skip them if reads are correct without its work
   */
  run(deps: JobDeps, waits: boolean): Promise<Outcome>
}

/**
 * What a run of a job returns:
 * - true: there may be more work
 * - 'soon': there is no work left, but this run had some, so the job runs again after `busyEveryMs`
 * - false: there is no work left
 * - null: this run did nothing, because another process is doing the job
 */
type Outcome = boolean | 'soon' | null

/**
 * Numbers some of the recorded events. Its parameter `waits` and its result are as in `Job.run`. It also runs before an
 * answer that must contain the events of all earlier changes.
 */
export async function numberEvents(
  { database, observeEvents }: Pick<JobDeps, 'database' | 'observeEvents'>,
  waits: boolean,
): Promise<Outcome> {
  const sequenced = await sequenceEvents(database, waits)
  if (sequenced === null) return null
  observeEvents(sequenced.counts)
  if (sequenced.mayBeMore) return true
  return Object.keys(sequenced.counts).length > 0 ? 'soon' : false
}

type Intervals = Pick<Job, 'everyMs' | 'busyEveryMs'>

/** How often events are numbered. */
export const numberingIntervals: Intervals = { everyMs: 250, busyEveryMs: 100 }

/**
 * Returns how long a job waits before its next run. If a run took longer than the interval, the next one begins at the
 * next multiple of the interval. It is a pure function.
 *
 * @param outcome the value that the run returned (`Job.run`)
 */
export function waitAfterRun(job: Intervals, outcome: Outcome, tookMs: number): number {
  const intervalMs = (outcome === 'soon' && job.busyEveryMs) || job.everyMs
  return intervalMs - (tookMs % intervalMs)
}

const passTime = 'pass-time'

const jobs: readonly Job[] = [
  { name: passTime, everyMs: 1_000, run: updateDueCampaigns },
  // This job comes before the one that marks reservations as expired, because `runDue` runs the jobs in this order.
  { name: 'expiring-orders', everyMs: 1_000, run: ({ database, clock }) => reportExpiring(database, clock.now()) },
  {
    name: 'expire-reservations',
    everyMs: 1_000,
    run: ({ database, clock }) => expire(database, clock.now()),
  },
  {
    name: 'end-lost-mails',
    everyMs: 60_000,
    run: async ({ database, clock }) => {
      await endLostMails(database, clock.now())
      return false
    },
  },
  { name: 'availability', everyMs: 5_000, run: reportAvailability },
  { name: 'overlaps-ending', everyMs: 10_000, run: ({ database }) => recordOverlapsEnding(database) },
  { name: 'fold-sales', everyMs: 10_000, run: ({ database }) => foldSales(database) },
  { name: 'stock-levels', everyMs: 15_000, run: reportStockLevels },
  { name: 'make-statement-lines', everyMs: 2_000, run: ({ database }) => makeLines(database) },
  { name: 'close-statements', everyMs: 5_000, waitedForMs: 10_000, run: closeStatements },
  {
    name: 'empty-outbox',
    everyMs: 3_600_000,
    run: async ({ database }) => {
      await emptyOldSlots(database)
      return false
    },
  },
  {
    name: 'forget-idempotency-answers',
    everyMs: 3_600_000,
    run: ({ answers }) => answers.forgetOld(),
  },
  {
    name: 'forget-sold-profiles',
    everyMs: 600_000,
    run: async ({ database }) => {
      await forgetSold(database)
      return false
    },
  },
  {
    name: 'drop-old-events',
    everyMs: 3_600_000,
    run: ({ database, eventDays }) => dropOldEvents(database, eventDays),
  },
  { name: 'tell-lost-refusals', everyMs: 60_000, run: ({ database }) => recordLostRefusals(database) },
  { name: 'tell-unfinished-logins', everyMs: 60_000, run: tellUnfinishedLogins },
  { name: 'answer-reset-requests', everyMs: 1_000, run: ({ people }) => answerResetRequests(people) },
  { name: 'send-mails', everyMs: 1_000, run: ({ people }) => sendMails(people) },
  { name: 'forget-people', everyMs: 600_000, run: ({ people }) => forgetPeople(people) },
  {
    name: 'hash-activation-codes',
    everyMs: 10_000,
    busyEveryMs: 250,
    run: ({ database, sealing, logger }) =>
      hashActivationCodes({ database, sealing, warn: (fields, text) => logger.warn(fields, text) }),
  },
  { name: 'remove-old-data', everyMs: 600_000, run: removeOld },
  { name: 'judge-endpoints', everyMs: 5_000, run: judgeEndpoints },
  {
    name: 'make-checkpoint',
    everyMs: 60_000,
    run: async ({ checkpoints }) => {
      await makeHourlyCheckpoint(checkpoints)
      return false
    },
  },
  {
    name: 'remove-old-audit-entries',
    everyMs: 3_600_000,
    run: ({ database, auditYears }) => removeOldEntries(database, auditYears),
  },
  // This job numbers the recorded events, so in `runDue` it must come after all jobs that record events. While
  // thousands of campaigns end at one instant, each interval numbers only one batch of events, so that requests wait
  // less. Events that are recorded meanwhile wait until the campaigns' events are numbered.
  { name: 'sequence-events', ...numberingIntervals, yieldsTo: passTime, run: numberEvents },
  { name: 'hand-over', everyMs: 250, run: ({ database, onHandedOver }) => handOverAll(database, onHandedOver) },
  {
    name: 'end-lost-tests',
    everyMs: 60_000,
    run: async ({ database }) => {
      await endLostTests(database)
      return false
    },
  },
  // While thousands of campaigns end at one instant, each interval chains only one batch of audit log entries, so that
  // the campaigns change first.
  {
    name: 'chain-audit-log',
    everyMs: 250,
    yieldsTo: passTime,
    run: ({ database }, waits) => chainEntries(database, waits),
  },
]

/** Does all work that is due now. It also waits for the work that other processes have begun. */
export async function runDue(deps: JobDeps): Promise<void> {
  for (const job of jobs) {
    const giveUpAtMs = performance.now() + (job.waitedForMs ?? Number.POSITIVE_INFINITY)
    const goesOn = async (waits: boolean) => (await job.run(deps, waits)) === true && performance.now() < giveUpAtMs
    // Process unlocked rows first, so that we hold no locks while waiting for the rest.
    while (await goesOn(false));
    while (await goesOn(true));
  }
}

/**
 * Compares the stock with the state that was last reported. A change is reported only after it has lasted for a while.
 * Call this function before the clock is moved forward, so that it stores when the change began.
 */
export async function lookAtStock(deps: JobDeps): Promise<void> {
  while (await foldSales(deps.database));
  await reportAvailability(deps)
  await reportStockLevels(deps)
}

/**
 * Starts every job: the first run is at once, and the next ones follow at the job's interval. A run never begins before
 * the previous one has ended.
 *
 * @returns `stop`, which waits for the current runs
 */
export function startJobs(
  deps: JobDeps,
  onError: (job: string, error: unknown) => void,
  observe: JobObserver,
): { stop(): Promise<void> } {
  const backlogs = new Set<string>()
  const started = jobs.map(job => startJob(job, deps, { onError, observe, backlogs }))
  return {
    async stop() {
      await Promise.all(started.map(job => job.stop()))
    },
  }
}

type Watching = {
  onError: (job: string, error: unknown) => void
  observe: JobObserver
  /** The names of the jobs that have more to do. All jobs of the process share this set. */
  backlogs: Set<string>
}

function startJob(job: Job, deps: JobDeps, { onError, observe, backlogs }: Watching): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  observe.jobStarts(job.name, job.everyMs)
  const run = async (): Promise<Outcome> => {
    const startedAtMs = performance.now()
    const yields = () => job.yieldsTo !== undefined && backlogs.has(job.yieldsTo)
    let outcome: Outcome = true
    let hasRun = false
    do {
      outcome = await job.run(deps, false)
      hasRun ||= outcome !== null
      if (outcome === true) backlogs.add(job.name)
      else backlogs.delete(job.name)
    } while (!signal.aborted && outcome === true && !yields())
    // A run that did nothing, because another process does the job, is no success: that process may fail.
    if (hasRun) observe.jobSucceeds(job.name, (performance.now() - startedAtMs) / 1_000)
    return outcome
  }
  const loop = async () => {
    while (!signal.aborted) {
      const startedAtMs = performance.now()
      const outcome = await run().catch(error => {
        backlogs.delete(job.name)
        onError(job.name, error)
        return false
      })
      const waitMs = waitAfterRun(job, outcome, performance.now() - startedAtMs)
      await sleep(waitMs, undefined, { signal }).catch(() => {})
    }
  }
  const ended = loop()
  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}
