/**
 * What happens by itself. Nothing is correct because of a job: readers compute what is due, jobs carry it out. Several processes may
 * run them at once; each job's statements share the work.
 */

import type { CampaignDeps } from '../campaigns/deps.ts'
import { moveDueCampaigns } from '../campaigns/lifecycle/clock-operations.ts'
import { expire, forgetSold } from '../esim/orders/store.ts'
import { foldSales } from '../esim/sold/fold-store.ts'
import { emptyOldSlots } from '../events/tick-store.ts'
import type { Answers } from '../idempotency/answers.ts'
import { type RetentionDays, removeOld } from '../retention/removal.ts'

export type JobDeps = CampaignDeps & { answers: Pick<Answers, 'forgetOld'>; retention: RetentionDays }

/** Told of each job once when it starts, and of each of its runs that succeeds. */
export type JobObserver = {
  jobStarts(job: string, everyMs: number): void
  jobSucceeds(job: string, seconds: number): void
}

type Job = {
  name: string
  everyMs: number
  /**
   * Carries out a bounded piece of what is due.
   *
   * @param waits true: what others are busy with is waited for (a job whose outcome readers compute anyway need not); false: it is
   *   left to them
   * @returns whether there may be more
   */
  run(deps: JobDeps, waits: boolean): Promise<boolean>
}

export const jobs: readonly Job[] = [
  { name: 'pass-time', everyMs: 1_000, run: moveDueCampaigns },
  {
    name: 'expire-reservations',
    everyMs: 1_000,
    run: ({ database, clock }) => expire(database, clock.now()),
  },
  { name: 'fold-sales', everyMs: 10_000, run: ({ database }) => foldSales(database) },
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
  { name: 'remove-old-data', everyMs: 600_000, run: removeOld },
]

/** Carries out everything that is due now; what others have begun is done when it returns. */
export async function runDue(deps: JobDeps): Promise<void> {
  for (const job of jobs) {
    // First what nobody is busy with, so that none of it is held while the rest is waited for.
    while (await job.run(deps, false));
    while (await job.run(deps, true));
  }
}

/**
 * Starts every job, at once and then at its interval; a run that takes longer is not overtaken by the next.
 *
 * @returns stops them, waiting for the run under way
 */
export function startJobs(
  deps: JobDeps,
  onFault: (job: string, error: unknown) => void,
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
        .catch(error => onFault(job.name, error))
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
