import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { luhnDigit, stockColumns } from '../src/esim/stock/file.ts'

/**
 * Valid lines of a stock file, header first, each with its line end: for the sample directory and for the benchmarks.
 * The same `seed` (0 to 9999) gives the same lines; lines of different seeds never share an ICCID or a number.
 * Nothing in them is real: country code 999 belongs to nobody and example.com to no mobile operator.
 */
export function* profileLines({ count, seed }: { count: number; seed: number }): Generator<string, void, undefined> {
  const random = randomNumbers(seed)
  const series = String(seed).padStart(4, '0')
  yield `${stockColumns.join(',')}\n`
  for (let index = 0; index < count; index++) {
    const number = String(index).padStart(8, '0')
    const digits = `89999${series}0${number}`
    const pin1 = String(random() % 10_000).padStart(4, '0')
    const matchingId = Array.from({ length: 4 }, () => (random() % 36 ** 5).toString(36).padStart(5, '0')).join('-')
    const activationCode = `LPA:1$smdp.example.com$${matchingId.toUpperCase()}`
    yield `${digits}${luhnDigit(digits)},+999${series}${number},${pin1},${activationCode}\n`
  }
}

/** Unsigned 32-bit numbers that look random and are always the same for a seed (mulberry32). Not for secrets. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { count: { type: 'string' }, seed: { type: 'string', default: '0' } } })
  const [count, seed] = [Number(values.count), Number(values.seed)]
  if (Number.isInteger(count) && count >= 0 && count <= 1e8 && Number.isInteger(seed) && seed >= 0 && seed <= 9999) {
    await pipeline(Readable.from(profileLines({ count, seed })), process.stdout)
  } else {
    process.stderr.write('usage: node samples/make-profiles.ts --count 0..100000000 [--seed 0..9999]\n')
    process.exitCode = 2
  }
}
