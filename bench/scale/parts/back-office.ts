/** What a bank's back office reads in the Partner API: orders in both directions, look-ups, statements and the open day. */
import type { Figure } from '../../report.ts'
import { compareReads, type Part } from '../compared.ts'
import type { Side, Sides } from '../sides.ts'
import { operatorCode, tariffCode } from '../sizes.ts'

const queries: Record<string, string> = {
  'no filter': '',
  'up, from the first': 'sort=createdAt',
  'by confirmation': 'sort=-confirmedAt',
  'by confirmation, of a tariff': `sort=-confirmedAt&tariffCode=${tariffCode(15)}`,
  'two statuses': 'status=cancelled,expired',
  'an operator and a status': `operatorCode=${operatorCode(2)}&status=confirmed`,
  'an unknown operator': 'operatorCode=zzz',
}

export const backOfficePart: Part = {
  name: 'back-office',
  async run(_, sides) {
    const figures: Figure[] = []
    for (const [what, query] of Object.entries(queries))
      figures.push(await read(sides, `orders of the big bank: ${what}`, `/orders?${query}`))
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
    )
    return figures
  },
}

const read = (sides: Sides, name: string, path: string): Promise<Figure> =>
  compareReads(sides, name, ({ tokens }) => ({ token: tokens.big, paths: [`/partner/v1${path}`] }))

async function someOrder({ query }: Side): Promise<{ orderId: string; externalId: string }> {
  const [row] = await query<{ orderId: string; externalId: string }>(
    `select order_id as "orderId", external_id as "externalId" from orders
     where bank_id = (select bank_id from banks where code = 'big') and status = 'confirmed' order by order_id limit 1`,
  )
  if (!row) throw new Error('The big bank has sold nothing')
  return row
}
