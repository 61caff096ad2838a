/**
 * The reads of a bank's back office in the Partner API: orders in ascending and descending order, look-ups, statements,
 * and the statement of the current day.
 */
import { createClock } from '../../../src/clock.ts'
import { openDatabase } from '../../../src/db/database.ts'
import { closeNext } from '../../../src/statements/closing.ts'
import { makeAllLines } from '../../../src/statements/lines-store.ts'
import type { Figure } from '../../report.ts'
import { compareReads, type Part } from '../compared.ts'
import type { Side, Sides } from '../sides.ts'
import { operatorCode, tariffCode } from '../sizes.ts'

/** The query for an hour half a year ago, in the middle of the bank's orders. */
const hourQuery = (): string => {
  const at = (hours: number) => new Date(Date.now() - (182 * 24 - hours) * 3_600_000).toISOString()
  return `status=confirmed&createdFrom=${at(0)}&createdTo=${at(1)}`
}

const queries: Record<string, string> = {
  'no filter': '',
  'up, from the first': 'sort=createdAt',
  'by confirmation': 'sort=-confirmedAt',
  'by confirmation, of a tariff': `sort=-confirmedAt&tariffCode=${tariffCode(15)}`,
  'two statuses': 'status=cancelled,expired',
  'an operator and a status': `operatorCode=${operatorCode(2)}&status=confirmed`,
  'of one hour, a status': hourQuery(),
  'an unknown operator': 'operatorCode=zzz',
}

export const backOfficePart: Part = {
  name: 'back-office',
  async run(_, sides) {
    const figures: Figure[] = []
    for (const side of [sides.small, sides.large]) await closeAll(side)
    for (const [what, query] of Object.entries(queries))
      figures.push(await read(sides, `orders of the big bank: ${what}`, `/orders?${query}`))
    const latest = new Map<Side, string>()
    for (const side of [sides.small, sides.large]) latest.set(side, await latestOf(side))
    const orders = new Map<Side, { orderId: string; externalId: string }>()
    for (const side of [sides.small, sides.large]) orders.set(side, await someOrder(side))
    const ofOrder = (name: string, path: (order: { orderId: string; externalId: string }) => string) =>
      compareReads(sides, name, side => {
        const order = orders.get(side)
        return { token: side.tokens.big, paths: order ? [`/partner/v1${path(order)}`] : [] }
      })
    figures.push(
      await ofOrder('an order by id', ({ orderId }) => `/orders/${orderId}`),
      await ofOrder('an order by externalId', ({ externalId }) => `/orders/by-external-id?externalId=${externalId}`),
      await ofOrder('a timeline', ({ orderId }) => `/orders/${orderId}/timeline`),
      await read(sides, 'the open statement', '/statements/open'),
      await read(sides, 'statements of 30 days', '/statements'),
      await read(sides, 'the latest statement', '/statements/latest'),
      await compareReads(sides, 'lines of the latest statement', side => ({
        token: side.tokens.big,
        paths: [`/partner/v1/statements/${latest.get(side)}/lines`],
      })),
    )
    return figures
  },
}

const read = (sides: Sides, name: string, path: string): Promise<Figure> =>
  compareReads(sides, name, ({ tokens }) => ({ token: tokens.big, paths: [`/partner/v1${path}`] }))

/**
 * Closes all days of the big bank's year at once; the platform's own job would take longer, because it serves all
 * banks.
 */
async function closeAll({ settings, query }: Side): Promise<void> {
  const database = openDatabase({ connection: { connectionString: settings.DATABASE_URL ?? '' }, poolSize: 4 })
  try {
    await makeAllLines(database, 600_000)
    const [big] = await query<{ id: string }>(`select bank_id as id from banks where code = 'big'`)
    while (await closeNext({ database, clock: createClock() }, big?.id ?? '', true));
  } finally {
    await database.close()
  }
}

async function latestOf({ query }: Side): Promise<string> {
  const [row] = await query<{ id: string }>(
    `select statement_id as id from statements where bank_id = (select bank_id from banks where code = 'big') order by number desc limit 1`,
  )
  if (!row) throw new Error('The big bank has no statement')
  return row.id
}

async function someOrder({ query }: Side): Promise<{ orderId: string; externalId: string }> {
  const [row] = await query<{ orderId: string; externalId: string }>(
    `select order_id as "orderId", external_id as "externalId" from orders
     where bank_id = (select bank_id from banks where code = 'big') and status = 'confirmed' order by order_id limit 1`,
  )
  if (!row) throw new Error('The big bank has sold nothing')
  return row
}
