/** Makes orders over HTTP for benchmarks that need some. */
import type { Served } from './bench.ts'
import { operatorCode, tariffCode } from './world.ts'

/** @returns the ids of new orders, confirmed if requested */
export async function makeOrders(
  { url, token }: Served,
  orders: { count: number; confirmed: boolean; prefix: string },
): Promise<string[]> {
  const post = async (path: string, body: object, status: number) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/esim/v1/orders${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (answer.status !== status) throw new Error(`POST /orders${path} answered ${answer.status}`)
    return (await answer.json()) as { orderId: string }
  }
  const make = async (n: number) => {
    const { orderId } = await post('', { operatorCode, tariffCode, externalId: `${orders.prefix}-${n}` }, 201)
    if (orders.confirmed) await post(`/${orderId}/confirm`, {}, 200)
    return orderId
  }
  const ids: string[] = []
  const atOnce = 50
  for (let n = 0; n < orders.count; n += atOnce)
    ids.push(...(await Promise.all(Array.from({ length: atOnce }, (_, index) => make(n + index)))))
  return ids
}
