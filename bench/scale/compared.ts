/** Figures of the large world compared with the small one. A figure that cannot be measured counts as missed. */
import type { Bench } from '../bench.ts'
import { timeToRead } from '../reading.ts'
import type { Figure } from '../report.ts'
import { type Compared, compare } from '../rounds.ts'
import type { Side, Sides } from './sides.ts'

/**
 * A time in milliseconds that is fast enough, even if the small world is faster. The ratio of such short times is not
 * reliable.
 */
const quickMs = 10
/** How long a read is repeated, approximately. */
const budgetMs = 6_000
const maxRounds = 31

export type Goal = {
  /** The maximum ratio to the small world. */
  times: number
  /** A time in milliseconds that is fast enough even if the ratio is bad. null: only the ratio counts. */
  ms?: number | null
}
export const flat: Goal = { times: 2, ms: quickMs }
/**
 * The goal of reads that examine more items in a longer list, up to a fixed number. 250 ms are fast enough for a
 * person.
 */
export const bounded: Goal = { times: 2, ms: 250 }

/** Makes the figure of a comparison. It passes if the ratio or the time reaches the goal. */
export function figureOf(name: string, { ours, limit, ratio }: Compared, { times, ms = null }: Goal): Figure {
  return {
    name,
    ours: inMs(ours),
    limit: inMs(limit),
    ratio,
    target: ms === null ? `<= ${times}` : `<= ${times}, or ${ms} ms`,
    pass: ratio <= times || (ms !== null && ours <= ms),
  }
}

const inMs = (ms: number): string => (ms < 1_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`)

/** Measures a figure. If that fails, returns a missed figure with the error's message in place of the value. */
export async function attempt(name: string, target: string, measure: () => Promise<Figure>): Promise<Figure> {
  try {
    return await measure()
  } catch (error) {
    return { name, ours: (error as Error).message, limit: '', ratio: null, target, pass: false }
  }
}

/** Measures both sides alternately, as often as the time allows, after one warm-up. */
export async function compareSides(sides: Sides, measure: (side: Side) => Promise<number>): Promise<Compared> {
  const start = performance.now()
  await measure(sides.small)
  await measure(sides.large)
  const rounds = Math.floor(budgetMs / (performance.now() - start))
  return compare(
    Math.max(1, Math.min(maxRounds, rounds)),
    () => measure(sides.large),
    () => measure(sides.small),
  )
}

/** Returns the token of the reader and the paths to read on one of the sides. */
export type Reads = (side: Side) => { token: string; paths: string[] }

/** Compares how long a read takes on both sides. Only one read runs at a time. If there are several paths, they alternate. */
export function compareReads(sides: Sides, name: string, reads: Reads, goal = flat): Promise<Figure> {
  return attempt(name, `<= ${goal.times}`, async () => {
    const readers = new Map([sides.small, sides.large].map(side => [side, reader(side, reads(side))]))
    const compared = await compareSides(sides, side => readers.get(side)?.() ?? Promise.reject(new Error('no reader')))
    return figureOf(name, compared, goal)
  })
}

function reader(side: Side, { token, paths }: ReturnType<Reads>): () => Promise<number> {
  let next = 0
  return () => timeToRead(side.port, token, paths[next++ % paths.length] ?? '')
}

/** One part of the comparison. */
export type Part = { name: string; run(bench: Bench, sides: Sides): Promise<Figure[]> }

export const shown = (count: number): string => count.toLocaleString('en')
