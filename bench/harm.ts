/** Measures how much other clients slow down requests when they use as much of the platform as they can. */
import type { Bench } from './bench.ts'
import type { Figure } from './report.ts'
import { median } from './rounds.ts'

const maxRatio = 2

/**
 * Calls `measure` alternately on a quiet platform, and while other clients send the requests of `harm`. Each connection
 * of these clients sends one request after the other.
 */
export async function compareUnderHarm(
  bench: Pick<Bench, 'rounds'>,
  name: string,
  measure: () => Promise<number>,
  { connections, harm }: { connections: number; harm(): Promise<void> },
): Promise<Figure> {
  await measure()
  const [without, during, ratios]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < bench.rounds; round++) {
    const alone = await measure()
    let isOver = false
    const harming = Array.from({ length: connections }, async () => {
      while (!isOver) await harm()
    })
    const busy = await measure().finally(() => {
      isOver = true
    })
    await Promise.all(harming)
    without.push(alone)
    during.push(busy)
    ratios.push(busy / alone)
  }
  const ratio = median(ratios)
  return {
    name,
    ours: `${median(during).toFixed(1)} ms`,
    limit: `${median(without).toFixed(1)} ms`,
    ratio,
    target: `<= ${maxRatio}`,
    pass: ratio <= maxRatio,
  }
}
