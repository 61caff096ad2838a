/**
 * Measures, while a bank sells, how long it takes from the commit of a confirm until a long poll returns its event. A
 * second measurement runs beside an open transaction, such as that of an upload.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Bench, freshPrefix, type Served, serve, using } from '../bench.ts'
import { requireExpected, runLoad } from '../load.ts'
import { clients } from '../pgbench.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'
import { operatorCode, tariffCode } from '../world.ts'

const name = 'bench_latency'
const target = { p50Ms: 250, p99Ms: 1_000, besideUpload: 1.2 }
/** With this pause there are about 1,000 confirms a second, if the machine is fast enough. */
const pauseMs = 55

type Lags = { confirmsASecond: number; p50: number; p99: number }

export function measureLatency(bench: Bench): Promise<Figure[]> {
  return using(start(bench), async platform => {
    const seconds = bench.quick ? 6 : 20
    await sellAndRead(platform, 3)
    const all: Lags[] = []
    const measure = async () => {
      const lags = await sellAndRead(platform, seconds)
      all.push(lags)
      return lags.p99
    }
    const { ours, limit, ratio } = await compare(
      bench.quick ? 1 : 5,
      () => besideUpload(bench.server.url(name), () => sellAndRead(platform, seconds)),
      measure,
    )
    const of = (key: keyof Lags) =>
      all.map(lags => lags[key]).toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN
    const rate = `at ${Math.round(of('confirmsASecond'))} confirms a second`
    const lagFigure = (key: 'p50' | 'p99', most: number): Figure => ({
      name: `from the confirm to the answer of the long poll, ${key}, ${rate}`,
      ours: `${of(key)} ms`,
      limit: '',
      ratio: null,
      target: `<= ${most} ms`,
      pass: of(key) <= most,
    })
    return [
      lagFigure('p50', target.p50Ms),
      lagFigure('p99', target.p99Ms),
      {
        name: 'the p99 beside an upload whose transaction stays open, against without',
        ours: `${ours} ms`,
        limit: `${limit} ms`,
        ratio,
        target: `<= ${target.besideUpload}`,
        pass: ratio <= target.besideUpload,
      },
    ]
  })
}

async function start(bench: Bench): Promise<Served> {
  await bench.server.create(name, (await bench.world()).template)
  return serve(bench, name)
}

/**
 * Measures while another transaction is open. That transaction has a transaction id, as if it had written something.
 */
async function besideUpload(connectionString: string, work: () => Promise<Lags>): Promise<number> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query('begin; select pg_current_xact_id(); select count(*) from outbox')
    const { p99 } = await work()
    await client.query('commit')
    return p99
  } finally {
    await client.end()
  }
}

async function sellAndRead(platform: Served, seconds: number): Promise<Lags> {
  const { port, token } = platform
  const load = { kind: 'sell' as const, operatorCode, tariffCode, prefix: freshPrefix() }
  const lags: number[] = []
  let isOver = false
  const reading = (async () => {
    let { nextAfter: after } = await ask(platform, 'after=now')
    while (!isOver) {
      const page = await ask(platform, `after=${after}&limit=1000&wait=1&type=order.confirmed`)
      const now = Date.now()
      for (const { data } of page.data) lags.push(now - Date.parse(data.confirmedAt))
      after = page.nextAfter
    }
  })()
  const result = await runLoad({ ports: [port], token, connections: clients, seconds, load, pauseMs })
  requireExpected(result)
  await sleep(1_500)
  isOver = true
  await reading
  lags.sort((one, other) => one - other)
  const at = (share: number) => lags[Math.floor(lags.length * share)] ?? Number.NaN
  return { confirmsASecond: (result.answered.confirm?.count ?? 0) / result.seconds, p50: at(0.5), p99: at(0.99) }
}

type Page = { nextAfter: number; data: { data: { confirmedAt: string } }[] }

async function ask({ url, token }: Served, query: string): Promise<Page> {
  const answer = await fetch(`${url}/partner/v1/events?${query}`, { headers: { authorization: `Bearer ${token}` } })
  if (!answer.ok) throw new Error(`The feed answers ${answer.status}`)
  return (await answer.json()) as Page
}
