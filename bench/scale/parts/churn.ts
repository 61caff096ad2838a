/**
 * Makes and cancels very many reservations. Measures how much disk space they leave in use, and whether the last ones
 * are as fast as the first ones.
 */
import type { Bench } from '../../bench.ts'
import { freshPrefix } from '../../bench.ts'
import { requireExpected, runLoad } from '../../load.ts'
import type { Figure } from '../../report.ts'
import { attempt, type Part, shown } from '../compared.ts'
import type { Side } from '../sides.ts'
import { requireStock, soldTariff } from '../stock.ts'

/**
 * The length of a round in seconds. In a much shorter round, other work on the machine would affect the result too
 * much.
 */
const roundSeconds = 10
const connections = 32
/**
 * The maximum space of a new order, as a multiple of the space of an earlier one. Each new order is written twice.
 * Vacuum frees the space of the first version, and later orders use it.
 */
const maxGrowth = 2

export const churnPart: Part = {
  name: 'churn',
  run: async (bench, { large }) => {
    const cycles = bench.quick ? 20_000 : 1_000_000
    const name = `${shown(cycles)} reservations are made and cancelled`
    try {
      return await churn(bench, large, cycles)
    } catch (error) {
      return [await attempt(name, '', () => Promise.reject(error))]
    }
  },
}

async function churn(bench: Bench, side: Side, cycles: number): Promise<Figure[]> {
  await requireStock(side, 1_000)
  const before = await sizesOf(side)
  const [first, last] = await cancelMany(bench, side, cycles)
  const after = await sizesOf(side)
  const name = `${shown(after.orders - before.orders)} reservations are made and cancelled`
  return [
    growth(`${name}: table, against the same number of orders`, before.table, after.table, before.orders, after.orders),
    growth(`${name}: indexes, alike`, before.indexes, after.indexes, before.orders, after.orders),
    rateFigure(`${name}: the last ${roundSeconds} s, against the first`, last, first),
  ]
}

type Sizes = { table: number; indexes: number; orders: number }

/** The sizes of the tables after a vacuum. It is started here, because autovacuum would come late. */
async function sizesOf({ query }: Side): Promise<Sizes> {
  await query('vacuum analyze orders')
  const [row] = await query<Record<keyof Sizes, string>>(
    `select pg_table_size('orders') as table, pg_indexes_size('orders') as indexes, reltuples as orders
     from pg_class where oid = 'orders'::regclass`,
  )
  return { table: Number(row?.table), indexes: Number(row?.indexes), orders: Number(row?.orders) }
}

/** @returns the cycles a second in the first round and in the last */
async function cancelMany(bench: Bench, side: Side, cycles: number): Promise<[first: number, last: number]> {
  const rates: number[] = []
  const seconds = bench.quick ? bench.seconds : roundSeconds
  for (let done = 0; done < cycles; ) {
    const load = { kind: 'cancel' as const, ...soldTariff, prefix: freshPrefix() }
    const result = await runLoad({ ports: [side.port], token: side.tokens.seller, connections, seconds, load })
    requireExpected(result)
    const cancelled = result.answered.cancel?.count ?? 0
    rates.push(cancelled / result.seconds)
    done += cancelled
    bench.tell(`    ${shown(done)} cancelled, ${Math.round(cancelled / result.seconds)}/s`)
  }
  return [rates[0] ?? Number.NaN, rates.at(-1) ?? Number.NaN]
}

/** Compares the average size of the new orders with that of the earlier orders. */
function growth(name: string, before: number, after: number, ordersBefore: number, ordersAfter: number): Figure {
  const ours = (after - before) / (ordersAfter - ordersBefore)
  const limit = before / ordersBefore
  const ratio = ours / limit
  const bytes = (value: number) => `${Math.round(value)} bytes each`
  return {
    name,
    ours: bytes(ours),
    limit: bytes(limit),
    ratio,
    target: `<= ${maxGrowth}`,
    pass: ratio <= maxGrowth,
  }
}

function rateFigure(name: string, ours: number, limit: number): Figure {
  const ratio = ours / limit
  const each = (value: number) => `${Math.round(value)}/s`
  return { name, ours: each(ours), limit: each(limit), ratio, target: '>= 0.9', pass: ratio >= 0.9 }
}
