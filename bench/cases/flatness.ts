/**
 * Measures whether a million sales of a tariff slow down its next sale. The sales of a new tariff and of a tariff that
 * was sold often are measured alternately.
 */
import { type Bench, type Case, freshPrefix, type Served, serve, using } from '../bench.ts'
import { rateOf } from '../load.ts'
import { clients } from '../pgbench.ts'
import { compare } from '../rounds.ts'
import { operatorCode, tariffCode } from '../world.ts'

const fresh = 'bench_fresh'
const muchSold = 'bench_sold'
const target = 0.9

export const flatnessCase: Case = {
  name: 'flatness',
  async run(bench) {
    const sold = bench.quick ? 100_000 : 1_000_000
    await bench.server.create(fresh, (await bench.world()).template)
    await sell(bench, sold)
    return using(serve(bench, fresh), unsold =>
      using(serve(bench, muchSold), after => measure(bench, unsold, after, sold)),
    )
  },
}

async function measure(bench: Bench, unsold: Served, after: Served, sold: number) {
  const rate = (platform: Served) => (seconds: number) => {
    const load = { kind: 'reserve', operatorCode, tariffCode, prefix: freshPrefix() } as const
    return rateOf({ ports: [platform.port], token: platform.token, connections: clients, seconds, load }, 'reserve')
  }
  const [rateAfter, rateBefore] = [rate(after), rate(unsold)]
  await rateAfter(2)
  await rateBefore(2)
  await bench.server.run(fresh, 'vacuum analyze orders')
  const compared = await compare(
    bench.rounds,
    () => rateAfter(bench.seconds),
    () => rateBefore(bench.seconds),
  )
  return [
    {
      name: `reserve after ${sold.toLocaleString('en')} sales of the tariff, against its start`,
      ours: `${Math.round(compared.ours)}/s`,
      limit: `${Math.round(compared.limit)}/s`,
      ratio: compared.ratio,
      target: `>= ${target}`,
      pass: compared.ratio >= target,
    },
  ]
}

/**
 * Inserts the rows that this many sales over thirty days would create. It also moves the tariff's position behind the last
 * profile sold, as `esim/stock/stock.ts` does.
 */
async function sell(bench: Bench, count: number): Promise<void> {
  const { template, tariffId, bankId } = await bench.world()
  await bench.server.create(muchSold, template)
  await bench.server.run(
    muchSold,
    `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at,
                         reserved_until, confirmed_at, delivery_mode)
     select lpad(to_hex(n), 32, '0')::uuid, '${bankId}', 'sold-' || n, ${tariffId}, profile_id, 'confirmed', 399.00, 'UAH',
            sold_at, sold_at + interval '15 minutes', sold_at + interval '1 minute', 'local'
     from (select profile_id, n, now() - interval '30 days' * (1 - n::float / ${count}) - interval '1 hour' as sold_at
           from (select profile_id, row_number() over (order by profile_id) as n from profiles where tariff_id = ${tariffId}
                 order by profile_id limit ${count}) numbered) sold`,
    `insert into stock_positions (tariff_id, taken_up_to)
     select ${tariffId}, max(profile_id) from orders where tariff_id = ${tariffId}`,
    'vacuum analyze',
    'checkpoint',
  )
}
