/** Stock of the tariff that the loads sell, imported as the operator does it. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { profileLines } from '../../samples/make-profiles.ts'
import type { Side } from './sides.ts'
import { operatorCode, tariffCode } from './sizes.ts'

export const soldTariff = { operatorCode: operatorCode(1), tariffCode: tariffCode(1) }

/** The first seed for imports. Lower seeds are reserved for the profiles of worlds. */
const firstSeed = 10

/**
 * Imports profiles.
 * @returns milliseconds
 */
export async function importStock({ url, operatorKey }: Side, count: number): Promise<number> {
  const lines = [...profileLines({ count, seed: randomInt(firstSeed, 10_000) })].join('')
  const start = performance.now()
  // `fetch` would give up after five minutes without an answer.
  const sending = request(`${url}/admin/profiles?operator=${soldTariff.operatorCode}&tariff=${soldTariff.tariffCode}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'text/csv' },
  })
  sending.end(lines)
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  const told = await text(answer)
  if (!told.includes(`"imported":${count}`))
    throw new Error(`The import answered ${answer.statusCode}: ${told.slice(0, 300)}`)
  return performance.now() - start
}

/** Imports as many profiles as are missing for this number of sales. */
export async function requireStock(side: Side, count: number): Promise<void> {
  const answer = await fetch(`${side.url}/admin/stock`, { headers: { authorization: `Bearer ${side.operatorKey}` } })
  const tariffs = (await answer.json()) as ({ free: number } & typeof soldTariff)[]
  const free = tariffs.find(found => found.tariffCode === soldTariff.tariffCode)?.free ?? 0
  if (free < count) await importStock(side, count - free)
}
