/** QR pictures: how many one process draws per second, and how 300 per second affect its other requests. */
import { type Bench, type Case, freshPrefix, type Served, serve, using } from '../bench.ts'
import type { Latency } from '../client.ts'
import { requireExpected, runLoad } from '../load.ts'
import { median } from '../rounds.ts'
import { makeOrders } from '../sales.ts'

const database = 'bench_qr'
const rateTarget = 300
const stallTargetMs = 10
/** The number of connections that ask for pictures. */
const drawing = 8
// With this pause, each connection sends 40 requests a second. All connections together send a little more than the
// target.
const pacedPauseMs = 24

export const qrCase: Case = {
  name: 'qr',
  async run(bench) {
    await bench.server.create(database, (await bench.world()).template)
    return using(serve(bench, database), async platform => {
      const orderIds = await makeOrders(platform, { count: 500, confirmed: true, prefix: freshPrefix() })
      const paths = orderIds.map(orderId => `/esim/v1/orders/${orderId}/qr`)
      await bench.server.run(database, 'vacuum analyze')
      return measure(bench, platform, paths)
    })
  },
}

async function measure(bench: Bench, { port, token }: Served, paths: string[]) {
  const pictures = async (pauseMs: number) => {
    const load = { kind: 'get', paths } as const
    const job = { ports: [port], token, connections: drawing, seconds: bench.seconds, load, pauseMs }
    const result = await runLoad(job)
    requireExpected(result)
    return (result.answered.get?.count ?? 0) / result.seconds
  }
  /** Sends 200 requests a second that draw no QR picture, and measures how long their answers take. */
  const others = async (): Promise<Latency> => {
    const load = { kind: 'get' as const, paths: ['/esim/v1/operators'] }
    const result = await runLoad({ ports: [port], token, connections: 2, seconds: bench.seconds, load, pauseMs: 10 })
    requireExpected(result)
    return result.answered.get ?? { count: 0, p50Ms: Number.NaN, p99Ms: Number.NaN, maxMs: Number.NaN }
  }
  await pictures(0)

  const rates: number[] = []
  const pacedRates: number[] = []
  const stalls: number[] = []
  const longest: number[] = []
  for (let round = 0; round < bench.rounds; round++) {
    rates.push(await pictures(0))
    const idle = await others()
    const [paced, busy] = await Promise.all([pictures(pacedPauseMs), others()])
    pacedRates.push(paced)
    stalls.push(busy.p99Ms - idle.p99Ms)
    longest.push(busy.maxMs - idle.maxMs)
  }
  const [rate, pacedRate, stallMs, extraMaxMs] = [rates, pacedRates, stalls, longest].map(median) as [
    number,
    number,
    number,
    number,
  ]
  const during = `other requests during ${Math.round(pacedRate)} PNGs/s, against an idle process`
  const plain = { limit: '', ratio: null }
  return [
    {
      name: 'QR pictures by one process',
      ours: `${Math.round(rate)}/s`,
      ...plain,
      target: `>= ${rateTarget}/s`,
      pass: rate >= rateTarget,
    },
    {
      name: `${during}: p99`,
      ours: `${stallMs >= 0 ? '+' : ''}${stallMs.toFixed(1)} ms`,
      ...plain,
      target: `<= +${stallTargetMs} ms`,
      pass: pacedRate >= rateTarget * 0.9 && stallMs <= stallTargetMs,
    },
    {
      name: `${during}: longest`,
      ours: `${extraMaxMs >= 0 ? '+' : ''}${extraMaxMs.toFixed(1)} ms`,
      ...plain,
      target: '',
      pass: null,
    },
  ]
}
