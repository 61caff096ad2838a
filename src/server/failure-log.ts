/**
 * Logs failures of repeated work, for example of the jobs while the database is away. It logs the first failure of each
 * kind, then at most one line a minute with the number of failures, and one line when the work succeeds again.
 */
import type { Logger } from '../log.ts'

const repeatMs = 60_000

export type FailureLog = {
  failed(job: string, error: unknown): void
  succeeded(job: string): void
}

const ofJobs = { failed: 'a job failed and is tried again', succeeded: 'a job that had failed works again' }

/** @param texts the messages of the lines */
export function createFailureLog(logger: Logger, texts = ofJobs): FailureLog {
  const failing = new Map<string, { kind: string; toldAtMs: number; untold: number; failures: number }>()
  return {
    failed(job, error) {
      const kind = kindOf(error)
      const state = failing.get(job) ?? { kind, toldAtMs: Number.NEGATIVE_INFINITY, untold: 0, failures: 0 }
      failing.set(job, state)
      state.failures++
      state.untold++
      if (kind === state.kind && performance.now() - state.toldAtMs < repeatMs) return
      state.kind = kind
      logger.warn({ job, failures: state.untold, err: error }, texts.failed)
      state.toldAtMs = performance.now()
      state.untold = 0
    },
    succeeded(job) {
      const state = failing.get(job)
      if (state === undefined) return
      failing.delete(job)
      logger.info({ job, failures: state.failures }, texts.succeeded)
    },
  }
}

/**
 * Returns the kind of a failure: its name and code. Without a code, the message is used instead. A message may contain
 * a port or a row, so it could differ each time. The kind of an error that stands for several is that of the first.
 */
function kindOf(error: unknown): string {
  if (error instanceof AggregateError) return `${error.name} ${kindOf(error.errors[0])}`
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown }
  return `${name} ${code ?? message}`
}
