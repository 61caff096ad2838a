/**
 * Compares selling over HTTP with pgbench, which runs the same SQL statements on the same tables. Both have 64 clients
 * and run alternately.
 */
import { type Bench, type Case, freshPrefix, type Served, serve, using } from '../bench.ts'
import { requireExpected, runLoad } from '../load.ts'
import { clients, type PgbenchScript, pgbench, reserveScript, sellScript } from '../pgbench.ts'
import type { Figure } from '../report.ts'
import { compare, median } from '../rounds.ts'
import { operatorCode, tariffCode } from '../world.ts'

const database = 'bench_reserve'
const p99LimitMs = 25

export const reserveCase: Case = {
  name: 'reserve',
  async run(bench) {
    const { template, bankId } = await bench.world()
    await bench.server.create(database, template)
    // pgbench takes profiles of a tariff that the platform does not sell, so the two sides never want the same profile.
    const otherTariffId = 1_000_000
    return using(serve(bench, database), async platform => [
      ...(await measure(bench, platform, 'reserve', reserveScript(bankId, otherTariffId), 1)),
      ...(await measure(bench, platform, 'sell', sellScript(bankId, otherTariffId), 1)),
    ])
  },
}

let firstProfile = 1_000_000_000

async function measure(
  bench: Bench,
  platform: Served,
  kind: 'reserve' | 'sell',
  script: PgbenchScript,
  target: number,
): Promise<Figure[]> {
  const p99s: number[] = []
  const limit = (seconds: number) => {
    firstProfile += 100_000_000
    const { server, folder } = bench
    return pgbench(server, { database, script, seconds, folder, variables: { i: 0, first: firstProfile } })
  }
  const ours = async (seconds: number) => {
    const load = { kind, operatorCode, tariffCode, prefix: freshPrefix() }
    const result = await runLoad({ ports: [platform.port], token: platform.token, connections: clients, seconds, load })
    requireExpected(result)
    const last = result.answered[kind === 'sell' ? 'confirm' : 'reserve']
    p99s.push(Math.max(...Object.values(result.answered).map(({ p99Ms }) => p99Ms)))
    return (last?.count ?? 0) / result.seconds
  }
  // First both sides warm up. Then `vacuum analyze` updates the planner's statistics, because the table has grown.
  await ours(2)
  await limit(2)
  await bench.server.run(database, 'vacuum analyze orders')
  p99s.length = 0

  const compared = await compare(
    bench.rounds,
    () => ours(bench.seconds),
    () => limit(bench.seconds),
  )
  const name = kind === 'sell' ? 'reserve + confirm' : 'reserve'
  const p99Ms = median(p99s)
  return [
    {
      name: `${name} over HTTP, against pgbench`,
      ours: `${Math.round(compared.ours)}/s`,
      limit: `${Math.round(compared.limit)}/s`,
      ratio: compared.ratio,
      target: `>= ${target.toFixed(1)}`,
      pass: compared.ratio >= target,
    },
    {
      name: `${name}: p99 at ${clients} connections`,
      ours: `${p99Ms.toFixed(1)} ms`,
      limit: '',
      ratio: null,
      target: `<= ${p99LimitMs} ms`,
      pass: p99Ms <= p99LimitMs,
    },
  ]
}
