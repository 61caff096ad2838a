/** When a delivery is attempted and when it is given up (contract/webhooks.md, "When"). Pure. */
const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The wait after each failed attempt. */
export const waits = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const
/**
 * The count of failures that a finished delivery gets when somebody retries it. It is above the number of waits in the
 * schedule, so the next failure ends the delivery again, even while its endpoint is being probed.
 */
export const failuresOfRetry = waits.length + 1
const spread = 0.1
const maxRetryAfterMs = 24 * hour

/**
 * After this many failed attempts in a row, an endpoint gets only probes: single deliveries with a wait between them.
 */
export const probedFrom = 20
const firstProbeMs = 30 * second
const lastProbeMs = 5 * minute

/**
 * How long a delivery waits after a failed attempt.
 *
 * @param failures the number of failures, including this one
 * @param retryAfterMs the wait that the receiver demands; it can only make the wait longer
 * @param random 0 to 1
 * @returns null: that was the last attempt
 */
export function waitAfter(failures: number, retryAfterMs: number | null, random: number): number | null {
  const wait = waits[failures - 1]
  if (wait === undefined) return null
  const spreadMs = wait * (1 + spread * (2 * random - 1))
  return Math.max(spreadMs, Math.min(retryAfterMs ?? 0, maxRetryAfterMs))
}

/** How long an endpoint waits between probes. @param probes the number of probes so far */
export const probeWait = (probes: number): number => Math.min(firstProbeMs * 2 ** Math.min(probes, 10), lastProbeMs)

/** The response statuses for which we respect `Retry-After`. */
const statusesToRetry = new Set([429, 502, 503, 504])

/** @param header `Retry-After`: seconds or a date. @returns milliseconds; null: no valid value */
export function retryAfterMs(status: number | null, header: string | undefined, now: Date): number | null {
  if (status === null || !statusesToRetry.has(status) || header === undefined) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * second
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}
