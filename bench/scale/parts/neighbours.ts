/** Measures how much the reservations of one bank slow down while another bank reads very many orders. */
import type { Bench } from '../../bench.ts'
import { freshPrefix, using } from '../../bench.ts'
import { compareUnderHarm } from '../../harm.ts'
import { requireExpected, runLoad } from '../../load.ts'
import { startPlatform } from '../../platform.ts'
import type { Figure } from '../../report.ts'
import { attempt, type Part, shown } from '../compared.ts'
import type { Side } from '../sides.ts'
import { operatorCode, othersOperator } from '../sizes.ts'
import { requireStock, soldTariff } from '../stock.ts'

const dayAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
const neededStock = 100_000
/** The default limit on requests. Other measurements run without it, but here it protects the reservations. */
const usualRateLimit = '50/100'

export const neighboursPart: Part = {
  name: 'neighbours',
  async run(bench, { large }) {
    await requireStock(large, bench.quick ? 20_000 : neededStock)
    const orders = `over ${shown(large.sizes.orders)} orders`
    const fruitless = ['zzz', operatorCode(othersOperator)].map(code => `/portal/esim/orders?operatorCode=${code}`)
    const sales = [`/portal/esim/sales?from=${dayAgo(89)}&to=${dayAgo(0)}`]
    return using(startPlatform({ ...large.settings, API_RATE_LIMIT: usualRateLimit }), async ({ port }) => {
      const reading = { port, tokens: large.tokens }
      return [
        await reserveBeside(bench, reading, `8 fruitless searches at once ${orders}`, {
          connections: 8,
          paths: fruitless,
        }),
        await reserveBeside(bench, reading, `sales of 90 days ${orders}, on 60 connections`, {
          connections: 60,
          paths: sales,
        }),
      ]
    })
  },
}

function reserveBeside(
  bench: Bench,
  { port, tokens }: Pick<Side, 'port' | 'tokens'>,
  what: string,
  harm: { connections: number; paths: string[] },
): Promise<Figure> {
  const name = `reservations while another bank reads ${what}: p99`
  const job = { ports: [port], seconds: bench.seconds }
  // Refusals are expected: the platform limits how many of these reads it answers in a second and runs at once.
  const read = async () => {
    const load = { kind: 'get' as const, paths: harm.paths }
    await runLoad({ ...job, token: tokens.big, connections: harm.connections, load, lowest: true })
  }
  const reserve = async () => {
    const load = { kind: 'reserve' as const, ...soldTariff, prefix: freshPrefix() }
    const result = await runLoad({ ...job, token: tokens.seller, connections: 4, load, pauseMs: 5 })
    requireExpected(result)
    return result.answered.reserve?.p99Ms ?? Number.NaN
  }
  return attempt(name, '<= 2', () => compareUnderHarm(bench, name, reserve, { connections: 1, harm: read }))
}
