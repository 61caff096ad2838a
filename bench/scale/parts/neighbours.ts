/** Measures how much the reservations of one bank slow down while another bank reads very many orders. */
import type { Bench } from '../../bench.ts'
import { freshPrefix } from '../../bench.ts'
import { compareUnderHarm } from '../../harm.ts'
import { requireExpected, runLoad } from '../../load.ts'
import type { Figure } from '../../report.ts'
import { attempt, type Part, shown } from '../compared.ts'
import type { Side } from '../sides.ts'
import { operatorCode, othersOperator } from '../sizes.ts'
import { requireStock, soldTariff } from '../stock.ts'

const dayAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
const neededStock = 100_000

export const neighboursPart: Part = {
  name: 'neighbours',
  async run(bench, { large }) {
    await requireStock(large, bench.quick ? 20_000 : neededStock)
    const orders = `over ${shown(large.sizes.orders)} orders`
    const fruitless = ['zzz', operatorCode(othersOperator)].map(code => `/portal/esim/orders?operatorCode=${code}`)
    const sales = [`/portal/esim/sales?from=${dayAgo(89)}&to=${dayAgo(0)}`]
    return [
      await reserveBeside(bench, large, `8 fruitless searches at once ${orders}`, { connections: 8, paths: fruitless }),
      await reserveBeside(bench, large, `sales of 90 days ${orders}, on 60 connections`, {
        connections: 60,
        paths: sales,
      }),
    ]
  },
}

function reserveBeside(
  bench: Bench,
  side: Side,
  what: string,
  harm: { connections: number; paths: string[] },
): Promise<Figure> {
  const name = `reservations while another bank reads ${what}: p99`
  let next = 0
  // The status is not checked, because refusals are expected: the platform runs only a few of these reads at once, and
  // refuses those that wait too long.
  const read = () =>
    fetch(side.url + harm.paths[next++ % harm.paths.length], {
      headers: { authorization: `Bearer ${side.tokens.big}` },
    }).then(async answer => void (await answer.text()))
  const reserve = async () => {
    const load = { kind: 'reserve' as const, ...soldTariff, prefix: freshPrefix() }
    const job = {
      ports: [side.port],
      token: side.tokens.seller,
      connections: 4,
      seconds: bench.seconds,
      load,
      pauseMs: 5,
    }
    const result = await runLoad(job)
    requireExpected(result)
    return result.answered.reserve?.p99Ms ?? Number.NaN
  }
  return attempt(name, '<= 2', () =>
    compareUnderHarm(bench, name, reserve, { connections: harm.connections, harm: read }),
  )
}
