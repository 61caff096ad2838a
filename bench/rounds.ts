/**
 * Compares two sides in alternating rounds. The load of the machine changes, so only measurements that were made at
 * about the same time can be compared.
 */

export type Compared = { ours: number; limit: number; ratio: number; ratios: number[] }

export const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

/**
 * Measures both sides in each round. The side that goes first alternates.
 *
 * @param rounds how often
 * @returns the medians of both sides and of the rounds' ratios
 */
export async function compare(
  rounds: number,
  measureOurs: () => Promise<number>,
  measureLimit: () => Promise<number>,
): Promise<Compared> {
  const ours: number[] = []
  const limits: number[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 1) limits.push(await measureLimit())
    ours.push(await measureOurs())
    if (round % 2 === 0) limits.push(await measureLimit())
  }
  const ratios = ours.map((rate, round) => rate / (limits[round] ?? Number.NaN))
  return { ours: median(ours), limit: median(limits), ratio: median(ratios), ratios }
}
