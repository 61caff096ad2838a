/** Reads of orders: one order by its id, searches, and files. The banks have very many orders, or few. */
import type { Figure } from '../../report.ts'
import { attempt, compareReads, compareSides, figureOf, flat, type Part, shown } from '../compared.ts'
import type { Side, Sides } from '../sides.ts'
import { latestOrderMs, operatorCode, othersOperator, tariffCode, yearMs } from '../sizes.ts'

const dayMs = 86_400_000
const oldOrders = 200

export const ordersPart: Part = {
  name: 'orders',
  async run(_, sides) {
    const now = await madeAt(sides.large)
    const figures = [await readOld(sides)]
    figures.push(
      await compareReads(sides, 'GET /esim/v1/operators', ({ tokens }) => ({
        token: tokens.big,
        paths: ['/esim/v1/operators'],
      })),
      await compareReads(sides, 'availability: GET /operators/{code}/tariffs', ({ tokens }) => ({
        token: tokens.big,
        paths: [`/esim/v1/operators/${operatorCode(1)}/tariffs`],
      })),
    )
    for (const bank of ['big', 'tiny'] as const)
      for (const [what, query] of Object.entries(searches(now))) figures.push(await search(sides, bank, what, query))
    figures.push(...(await searchAsOperator(sides, now)))
    figures.push(await readMonth(sides, now))
    return figures
  },
}

/** Returns the instant at which the world was made, which is an hour after its last order. */
async function madeAt({ query }: Side): Promise<number> {
  const [row] = await query<{ at: Date }>(
    `select created_at as at from orders where external_id like 'payment-%' order by order_id desc limit 1`,
  )
  return (row?.at.getTime() ?? 0) + latestOrderMs
}

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const searches = (now: number): Record<string, string> => ({
  'no filter': '',
  'a prefix of externalId that a day has': `externalId=payment-${day(now - 100 * dayMs).replaceAll('-', '')}`,
  'a prefix of externalId that all have': 'externalId=payment-',
  'a prefix of externalId that none has': 'externalId=nothing-',
  'status confirmed': 'status=confirmed',
  'status expired': 'status=expired',
  'status cancelled': 'status=cancelled',
  'status reserved': 'status=reserved',
  'a day': `dateFrom=${day(now - 100 * dayMs)}&dateTo=${day(now - 100 * dayMs)}`,
  'a day and a status': `dateFrom=${day(now - 100 * dayMs)}&dateTo=${day(now - 100 * dayMs)}&status=cancelled`,
  'an operator': `operatorCode=${operatorCode(2)}`,
  'an operator and a status': `operatorCode=${operatorCode(2)}&status=cancelled`,
  'a tariff': `tariffCode=${tariffCode(15)}`,
  'an unknown operator': 'operatorCode=zzz',
  'an operator that the bank never sold': `operatorCode=${operatorCode(othersOperator)}`,
  'an operator that the bank never sold, and a status': `operatorCode=${operatorCode(othersOperator)}&status=cancelled`,
  'an operator and a day before the first order': `operatorCode=${operatorCode(2)}&dateTo=${day(now - yearMs - 40 * dayMs)}`,
})

function search(sides: Sides, bank: 'big' | 'tiny', what: string, query: string): Promise<Figure> {
  return compareReads(sides, `search of the ${bank} bank: ${what}`, ({ tokens }) => ({
    token: tokens[bank],
    paths: [`/portal/esim/orders?${query}`],
  }))
}

async function searchAsOperator(sides: Sides, now: number): Promise<Figure[]> {
  const wanted = searches(now)
  const figures: Figure[] = []
  for (const what of ['no filter', 'status reserved', 'an operator', 'an unknown operator'])
    figures.push(
      await compareReads(sides, `search of the operator: ${what}`, ({ operatorKey }) => ({
        token: operatorKey,
        paths: [`/admin/orders?${wanted[what]}`],
      })),
    )
  return figures
}

/** Reads orders of the big bank from the whole year by their ids, each for the first time. */
async function readOld(sides: Sides): Promise<Figure> {
  const paths = new Map<Side, string[]>()
  for (const side of [sides.small, sides.large]) paths.set(side, await oldPaths(side))
  return compareReads(sides, 'GET /esim/v1/orders/{orderId}, never read before', side => ({
    token: side.tokens.big,
    paths: paths.get(side) ?? [],
  }))
}

async function oldPaths({ query }: Side): Promise<string[]> {
  const rows = await query<{ id: string }>(
    `select found.order_id as id from generate_series(1, ${oldOrders}) n
     cross join lateral (
       select (lpad(to_hex((extract(epoch from now() - interval '2 hours' - random() * n / n * interval '364 days') * 1000)::bigint), 12, '0')
         || '70008' || repeat('0', 15))::uuid as id) point
     cross join lateral (
       select order_id from orders
       where order_id >= point.id and bank_id = (select bank_id from banks where code = 'big') order by order_id limit 1) found`,
  )
  return rows.map(({ id }) => `/esim/v1/orders/${id}`)
}

/** Downloads a CSV file with a month of orders, and measures the average time per row. */
function readMonth(sides: Sides, now: number): Promise<Figure> {
  const name = 'CSV of a month of the big bank'
  return attempt(name, `<= ${flat.times}`, async () => {
    const rows = new Map<Side, number>()
    const compared = await compareSides(sides, async side => {
      const { ms, lines } = await readCsv(side, `dateFrom=${day(now - 60 * dayMs)}&dateTo=${day(now - 31 * dayMs)}`)
      rows.set(side, lines - 1)
      return ms / (lines - 1)
    })
    const rate = (msOfRow: number) => `${shown(Math.round(1_000 / msOfRow))}/s`
    const counted = `${shown(rows.get(sides.large) ?? 0)} rows against ${shown(rows.get(sides.small) ?? 0)}`
    const figure = figureOf(`${name}: time of a row, ${counted}`, compared, { times: 1.5 })
    return { ...figure, ours: rate(compared.ours), limit: rate(compared.limit) }
  })
}

async function readCsv({ url, tokens }: Side, query: string): Promise<{ ms: number; lines: number }> {
  const start = performance.now()
  const answer = await fetch(`${url}/portal/esim/orders.csv?${query}`, {
    headers: { authorization: `Bearer ${tokens.big}` },
  })
  if (!answer.ok || !answer.body) throw new Error(`The file was answered with ${answer.status}`)
  let lines = 0
  for await (const piece of answer.body) for (const byte of piece) if (byte === 10) lines++
  return { ms: performance.now() - start, lines }
}
