/** Repeats a race of two sides until each possible outcome was seen, and fails if one does not occur. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

const sweep = 11
const sweeps = 10

/**
 * Races until each outcome was seen, and for at least `least` rounds. One side starts some time before or after the
 * other. This time sweeps from negative to positive values, and each sweep is wider than the one before. Early sweeps
 * show the outcomes that need short delays; on a busy machine some outcomes need the longer delays of later sweeps.
 * @param round starts both sides, the second one `lead` milliseconds after the first (negative: before it), and names
 * the outcome
 */
export async function race<Outcome>(
  outcomes: readonly Outcome[],
  round: (lead: number, count: number) => Promise<Outcome>,
  least = 0,
): Promise<void> {
  const seen = new Set<Outcome>()
  for (let count = 0; count < least || seen.size < outcomes.length; count++) {
    assert.ok(count < sweep * sweeps || count < least, `only ever ${[...seen].join(', ')}: no race`)
    const lead = (((count % sweep) - (sweep - 1) / 2) / 2) * 2 ** Math.floor(count / sweep)
    const outcome = await round(lead, count)
    assert.ok(outcomes.includes(outcome), `no such outcome: ${outcome}`)
    seen.add(outcome)
  }
}

/** Starts a side of a race (0: the first, 1: the second) after the wait that `lead` means for this side. */
export function inTurn<Result>(side: number, lead: number, start: () => Promise<Result>): Promise<Result> {
  const ms = side === 0 ? -lead : lead
  return ms <= 0 ? start() : sleep(ms).then(start)
}

/** Starts both, the second one `lead` milliseconds after the first (negative: before it). */
export function together<A, B>(lead: number, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  return Promise.all([inTurn(0, lead, first), inTurn(1, lead, second)])
}
