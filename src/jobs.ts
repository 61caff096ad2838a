/**
 * What happens by itself. Nothing is correct because of a job: readers compute what is due, jobs carry it out. Several processes may
 * run them at once; each job's statements share the work.
 */
import type { Clock } from './clock.ts'
import type { Database } from './db/database.ts'
import { expire, forgetSold } from './esim/store.ts'

export type JobDeps = { database: Database; clock: Clock }

type Job = {
  name: string
  everyMs: number
  /** Carries out a bounded piece of what is due. @returns whether there may be more */
  run(deps: JobDeps): Promise<boolean>
}

const expireAtOnce = 1_000

export const jobs: readonly Job[] = [
  {
    name: 'expire-reservations',
    everyMs: 1_000,
    run: async ({ database, clock }) => (await expire(database, clock.now(), expireAtOnce)) === expireAtOnce,
  },
  {
    name: 'forget-sold-profiles',
    everyMs: 600_000,
    run: async ({ database }) => {
      await forgetSold(database)
      return false
    },
  },
]

/** Carries out everything that is due now. */
export async function runDue(deps: JobDeps): Promise<void> {
  for (const job of jobs) while (await job.run(deps));
}

/**
 * Starts every job at its interval; a run that takes longer is not overtaken by the next.
 *
 * @returns stops them, waiting for the run under way
 */
export function startJobs(deps: JobDeps, onFault: (job: string, error: unknown) => void): { stop(): Promise<void> } {
  let stopped = false
  const running = new Set<Promise<void>>()
  const timers = jobs.map(job => {
    let busy = false
    return setInterval(() => {
      if (busy || stopped) return
      busy = true
      const run = (async () => {
        while (!stopped && (await job.run(deps)));
      })()
        .catch(error => onFault(job.name, error))
        .finally(() => {
          busy = false
          running.delete(run)
        })
      running.add(run)
    }, job.everyMs)
  })
  return {
    async stop() {
      stopped = true
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}
