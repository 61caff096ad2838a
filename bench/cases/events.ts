/** Events and webhooks: numbering, reads of large feeds, the delay from a commit to the reader, and deliveries. */
import { openDatabase } from '../../src/db/database.ts'
import { type Bench, type Case, runParts } from '../bench.ts'
import { measureConfirm } from '../events/confirm.ts'
import { measureDeliveries, measureNeighbours } from '../events/deliveries.ts'
import { measureReads, measureTick } from '../events/feed.ts'
import { measureLatency } from '../events/latency.ts'
import { measureLaunch } from '../events/launch.ts'
import { measurePolls } from '../events/polls.ts'
import type { Figure } from '../report.ts'

const parts: Record<string, (bench: Bench) => Promise<Figure[]>> = {
  tick: withBanks,
  confirm: async bench => [await measureConfirm(bench)],
  reads: measureReads,
  latency: measureLatency,
  polls: measurePolls,
  deliveries: async bench => [await measureDeliveries(bench)],
  neighbours: async bench => [await measureNeighbours(bench)],
  launch: measureLaunch,
}

/** Measures events and webhooks. `--parts tick,reads` measures only these two parts. */
export const eventsCase: Case = {
  name: 'events',
  run: bench => runParts(bench, parts),
}

async function withBanks(bench: Bench): Promise<Figure[]> {
  const name = 'bench_tick'
  await bench.server.create(name, (await bench.world()).template)
  const database = openDatabase({ connection: { connectionString: bench.server.url(name) }, poolSize: 4 })
  try {
    await database.execute(`insert into database_mode (mode) values ('sandbox') on conflict do nothing`)
    const banks = await database.query<{ id: string }>(
      `insert into banks (bank_id, code, name, logo_url, api_version, status, esim_delivery_mode, esim_all_operators)
       select gen_random_uuid(), 'events-' || n, 'Bank', '', '1.0', 'active', 'local', true from generate_series(1, 10) n
       returning bank_id as id`,
    )
    return [
      await measureTick(
        bench,
        database,
        banks.map(({ id }) => id),
      ),
    ]
  } finally {
    await database.close()
  }
}
