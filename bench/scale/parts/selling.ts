/** Imports stock and sells it. Measures how much processor time the platform and the database need for each request. */
import type { Bench } from '../../bench.ts'
import { freshPrefix } from '../../bench.ts'
import { warmUpMs } from '../../client.ts'
import { requireExpected, runLoad } from '../../load.ts'
import { cpuMsOf } from '../../processes.ts'
import type { Figure } from '../../report.ts'
import { median } from '../../rounds.ts'
import { attempt, compareSides, figureOf, flat, type Part, shown } from '../compared.ts'
import type { Side, Sides } from '../sides.ts'
import { importStock, soldTariff } from '../stock.ts'

const connections = 32

export const sellingPart: Part = {
  name: 'selling',
  async run(bench, sides) {
    const count = bench.quick ? 20_000 : 150_000
    return [
      await attempt('import', `<= ${flat.times}`, async () => {
        const compared = await compareSides(sides, side => importStock(side, count))
        return figureOf(`import of ${shown(count)} profiles`, compared, { times: 2 })
      }),
      ...(await sell(bench, sides, 'reserve')),
      ...(await sell(bench, sides, 'sell')),
    ]
  },
}

/** Processor time in microseconds, the write-ahead log in bytes. */
type Costs = { platform: number; database: number; log: number }

/**
 * Measures the worlds alternately, some seconds each.
 * @returns the medians of the rounds' ratios
 */
async function sell(bench: Bench, sides: Sides, kind: 'reserve' | 'sell'): Promise<Figure[]> {
  const name = kind === 'sell' ? 'reserve and confirm' : 'reserve'
  try {
    await costsOf(bench, sides.small, kind)
    await costsOf(bench, sides.large, kind)
    const rounds: { large: Costs; small: Costs }[] = []
    for (let round = 0; round < (bench.quick ? 1 : 5); round++) {
      const large = await costsOf(bench, sides.large, kind)
      rounds.push({ large, small: await costsOf(bench, sides.small, kind) })
    }
    return (['platform', 'database', 'log'] as const).map(whose => figureOfCosts(name, whose, rounds))
  } catch (error) {
    return [{ name, ours: (error as Error).message, limit: '', ratio: null, target: `<= ${flat.times}`, pass: false }]
  }
}

function figureOfCosts(name: string, whose: keyof Costs, rounds: { large: Costs; small: Costs }[]): Figure {
  const unit = whose === 'log' ? 'bytes' : 'us'
  const ours = rounds.map(({ large }) => large[whose])
  const limit = rounds.map(({ small }) => small[whose])
  const ratio = median(ours.map((cost, round) => cost / (limit[round] ?? Number.NaN)))
  return {
    name: `${name}: ${whose === 'log' ? 'write-ahead log' : `processor time of the ${whose}`} for each request`,
    ours: `${Math.round(median(ours))} ${unit}`,
    limit: `${Math.round(median(limit))} ${unit}`,
    ratio,
    target: `<= ${flat.times}`,
    pass: ratio <= flat.times,
  }
}

async function costsOf(bench: Bench, side: Side, kind: 'reserve' | 'sell'): Promise<Costs> {
  const load = { kind, ...soldTariff, prefix: freshPrefix() }
  const before = await spent(bench, side)
  const { port, tokens } = side
  const result = await runLoad({ ports: [port], token: tokens.seller, connections, seconds: bench.seconds, load })
  const after = await spent(bench, side)
  requireExpected(result)
  const counted = Object.values(result.answered).reduce((sum, { count }) => sum + count, 0)
  // The client does not count answers during its warm-up, so their number is estimated from the counted ones.
  const answers = (counted * (result.seconds + warmUpMs / 1_000)) / result.seconds
  return {
    platform: ((after.platform - before.platform) * 1_000) / answers,
    database: ((after.database - before.database) * 1_000) / answers,
    log: (after.log - before.log) / answers,
  }
}

/** The processor time of the platform and of the database so far (milliseconds), and the write-ahead log (bytes). */
async function spent({ server }: Bench, { child, query }: Side): Promise<Costs> {
  const [row] = await query<{ log: string }>(`select pg_current_wal_lsn() - '0/0' as log`)
  return { platform: cpuMsOf(child.pid), database: server.cpuMs(), log: Number(row?.log) }
}
