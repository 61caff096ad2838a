/** Draws settlement acts in worker threads, because drawing one takes tens of milliseconds of processor time. */
import { createConcurrencyLimit } from '../../work/concurrency-limit.ts'
import { resultOfThread } from '../../work/worker-thread.ts'
import type { ActStyle } from './pdf.ts'
import type { SettlementAct } from './read.ts'

const limits = { atOnce: 1, perPartner: 1, waiting: 200, waitMs: 20_000 }
const places = createConcurrencyLimit(
  limits,
  'Other documents are still being drawn: try again in a moment',
  'documents',
)

/**
 * Draws a settlement act.
 *
 * @param params.partner limits the partner to one document at a time
 * @param params.signal aborts when the caller stops waiting
 * @returns the PDF
 * @throws DomainError 'unavailable' when too many documents wait
 */
export async function drawAct(
  act: SettlementAct,
  style: ActStyle,
  params: { partner: string; signal: AbortSignal },
): Promise<Uint8Array> {
  const end = await places.take(params.partner, params.signal)
  try {
    return await resultOfThread<Uint8Array>(new URL('./worker.ts', import.meta.url), { act, style })
  } finally {
    end()
  }
}
