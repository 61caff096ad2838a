/**
 * What happens by itself. Nothing is correct because of a job: readers compute what is due, jobs carry it out. Several processes may
 * run them at once; each job's statements share the work.
 */

import { tellOverlapsEnding } from '../access/store.ts'
import { chainEntries } from '../audit-log/chain-store.ts'
import { type CheckpointDeps, makeHourlyCheckpoint } from '../audit-log/checkpoints.ts'
import { removeOldEntries } from '../audit-log/lines-store.ts'
import { tellLostRefusals } from '../audit-log/refusal-sums.ts'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { moveDueCampaigns } from '../campaigns/lifecycle/clock-operations.ts'
import { tellExpiring } from '../esim/orders/expiring.ts'
import { expire, forgetSold } from '../esim/orders/store.ts'
import { foldSales } from '../esim/sold/fold-store.ts'
import { tellAvailability, tellStockLevels } from '../esim/stock/told-store.ts'
import { dropOldEvents } from '../events/retention-store.ts'
import { sequenceEvents } from '../events/sequence-store.ts'
import { emptyOldSlots } from '../events/tick-store.ts'
import type { Answers } from '../idempotency/answers.ts'
import { answerResetRequests, forgetPeople, sendMails } from '../people/jobs.ts'
import type { PeopleDeps } from '../people/managers.ts'
import { type RetentionDays, removeOld } from '../retention/removal.ts'
import { type ClosingDeps, closeStatements } from '../statements/closing.ts'
import { makeLines } from '../statements/lines-store.ts'
import { handOverAll } from '../webhooks/delivering.ts'
import { endLostTests } from '../webhooks/delivery-store.ts'
import { judgeEndpoints } from '../webhooks/health.ts'

export type JobDeps = CampaignDeps &
  ClosingDeps & {
    answers: Pick<Answers, 'forgetOld'>
    retention: RetentionDays
    people: PeopleDeps
    /** What signs how far the audit log has come, and how long its entries are kept. */
    checkpoints: CheckpointDeps
    auditYears: number
    /** Days that events are kept. */
    eventDays: number
    /** Told how many events of each type were numbered. */
    observeEvents(counts: Record<string, number>): void
  }

/** Told of each job once when it starts, and of each of its runs that succeeds. */
export type JobObserver = {
  jobStarts(job: string, everyMs: number): void
  jobSucceeds(job: string, seconds: number): void
}

type Job = {
  name: string
  everyMs: number
  /** How long the sandbox clock waits for it; left out: until nothing is due. */
  waitedForMs?: number
  /**
   * Carries out a bounded piece of what is due.
   *
   * @param waits true: what others are busy with is waited for (a job whose outcome readers compute anyway need not); false: it is
   *   left to them
   * @returns whether there may be more
   */
  run(deps: JobDeps, waits: boolean): Promise<boolean>
}

/** Numbers what was told. Also before an answer that is to show every change made before it. */
export async function numberEvents(
  { database, observeEvents }: Pick<JobDeps, 'database' | 'observeEvents'>,
  waits: boolean,
): Promise<boolean> {
  const sequenced = await sequenceEvents(database, waits)
  observeEvents(sequenced?.counts ?? {})
  return sequenced?.mayBeMore ?? false
}

const jobs: readonly Job[] = [
  { name: 'pass-time', everyMs: 1_000, run: moveDueCampaigns },
  // Before they are marked as expired.
  { name: 'expiring-orders', everyMs: 1_000, run: ({ database, clock }) => tellExpiring(database, clock.now()) },
  {
    name: 'expire-reservations',
    everyMs: 1_000,
    run: ({ database, clock }) => expire(database, clock.now()),
  },
  { name: 'availability', everyMs: 5_000, run: tellAvailability },
  { name: 'overlaps-ending', everyMs: 10_000, run: ({ database }) => tellOverlapsEnding(database) },
  { name: 'fold-sales', everyMs: 10_000, run: ({ database }) => foldSales(database) },
  { name: 'stock-levels', everyMs: 15_000, run: tellStockLevels },
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
  { name: 'tell-lost-refusals', everyMs: 60_000, run: ({ database }) => tellLostRefusals(database) },
  { name: 'answer-reset-requests', everyMs: 1_000, run: ({ people }) => answerResetRequests(people) },
  { name: 'send-mails', everyMs: 1_000, run: ({ people }) => sendMails(people) },
  { name: 'forget-people', everyMs: 600_000, run: ({ people }) => forgetPeople(people) },
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
  // The last, as all others tell.
  { name: 'sequence-events', everyMs: 200, run: numberEvents },
  { name: 'hand-over', everyMs: 250, run: ({ database }) => handOverAll({ database }) },
  {
    name: 'end-lost-tests',
    everyMs: 60_000,
    run: async ({ database }) => {
      await endLostTests(database)
      return false
    },
  },
  { name: 'chain-audit-log', everyMs: 250, run: ({ database }, waits) => chainEntries(database, waits) },
]

/** Carries out everything that is due now; what others have begun is done when it returns. */
export async function runDue(deps: JobDeps): Promise<void> {
  for (const job of jobs) {
    const giveUpAtMs = performance.now() + (job.waitedForMs ?? Number.POSITIVE_INFINITY)
    const goesOn = async (waits: boolean) => (await job.run(deps, waits)) && performance.now() < giveUpAtMs
    // First what nobody is busy with, so that none of it is held while the rest is waited for.
    while (await goesOn(false));
    while (await goesOn(true));
  }
}

/** Looks at what is told only once it has stayed so for a while: to be called before the clock is moved over that while. */
export async function lookAtStock(deps: JobDeps): Promise<void> {
  while (await foldSales(deps.database));
  await tellAvailability(deps)
  await tellStockLevels(deps)
}

/**
 * Starts every job, at once and then at its interval; a run that takes longer is not overtaken by the next.
 *
 * @returns stops them, waiting for the run under way
 */
export function startJobs(
  deps: JobDeps,
  onError: (job: string, error: unknown) => void,
  observe: JobObserver,
): { stop(): Promise<void> } {
  let stopped = false
  const running = new Set<Promise<void>>()
  const timers = jobs.map(job => {
    observe.jobStarts(job.name, job.everyMs)
    let busy = false
    const runOnce = () => {
      if (busy || stopped) return
      busy = true
      const run = (async () => {
        const startedAtMs = performance.now()
        while (!stopped && (await job.run(deps, false)));
        observe.jobSucceeds(job.name, (performance.now() - startedAtMs) / 1_000)
      })()
        .catch(error => onError(job.name, error))
        .finally(() => {
          busy = false
          running.delete(run)
        })
      running.add(run)
    }
    runOnce()
    return setInterval(runOnce, job.everyMs)
  })
  return {
    async stop() {
      stopped = true
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}
