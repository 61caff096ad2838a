/** Measures how much writing outbox rows slows down confirms. A statement confirms 64 orders; two run at a time. */
import { type Database, openDatabase } from '../../src/db/database.ts'
import { recordingOrders } from '../../src/outbox/rows.ts'
import type { Bench } from '../bench.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'

const name = 'bench_confirm'
const rows = 64
const inFlight = 2
const least = 0.8

const confirm = (told: string): string => `
  with confirmed as (
    update orders o
    set status = 'confirmed', confirmed_at = greatest(now(), created_at), delivery_mode = 'local', ended_by = 'pk_bench'
    where o.order_id = any($1::uuid[]) and o.bank_id is not distinct from $2 and status || '' = 'reserved' and o.reserved_until > now()
    returning o.*
  )${told}
  select order_id from confirmed`

export async function measureConfirm(bench: Bench): Promise<Figure> {
  const { template, bankId, tariffId } = await bench.world()
  await bench.server.create(name, template)
  const database = openDatabase({ connection: { connectionString: bench.server.url(name) }, poolSize: inFlight })
  try {
    const statements = bench.quick ? 100 : 500
    const measure = (statement: { name: string; text: string }) => async () => {
      const batches = await reserve(database, { bankId, tariffId, statements })
      return confirmAll(database, { statement, bankId, batches })
    }
    // Both statements set `ended_by`. Otherwise a trigger would write the outbox row, even for `without`.
    const withRow = measure({
      name: 'with',
      text: confirm(`, recorded as (${recordingOrders('order.confirmed', 'confirmed')})`),
    })
    const without = measure({ name: 'without', text: confirm('') })
    await withRow()
    await without()
    const { ours, limit, ratio } = await compare(bench.rounds, withRow, without)
    return {
      name: `confirms, ${rows} a statement, ${inFlight} in flight: with the outbox row, against without`,
      ours: `${Math.round(ours)}/s`,
      limit: `${Math.round(limit)}/s`,
      ratio,
      target: `>= ${least}`,
      pass: ratio >= least,
    }
  } finally {
    await database.close()
  }
}

type Reserved = { bankId: string; tariffId: number; statements: number }

/**
 * Makes the reserved orders of a round. A profile can be on one live order only, so the orders of the previous round
 * are removed first.
 */
async function reserve(database: Database, { bankId, tariffId, statements }: Reserved): Promise<string[][]> {
  const ids = await database.dedicated(async client => {
    await client.query('truncate orders')
    const { rows: made } = await client.query<{ id: string }>(
      `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until)
       select gen_random_uuid(), $1, 'bench-' || profile_id, $2, profile_id, 'reserved', 399.00, 'UAH', now(), now() + interval '15 minutes'
       from profiles where tariff_id = $2 order by profile_id limit $3 returning order_id as id`,
      [bankId, tariffId, statements * rows],
    )
    await client.query('analyze orders')
    return made.map(({ id }) => id)
  })
  return Array.from({ length: statements }, (_, n) => ids.slice(n * rows, (n + 1) * rows))
}

type Batches = { statement: { name: string; text: string }; bankId: string; batches: string[][] }

async function confirmAll(database: Database, { statement, bankId, batches }: Batches): Promise<number> {
  let next = 0
  const start = performance.now()
  const work = async () => {
    for (let index = next++; index < batches.length; index = next++)
      await database.query(statement, [batches[index], bankId])
  }
  await Promise.all(Array.from({ length: inFlight }, work))
  return (batches.length * rows * 1_000) / (performance.now() - start)
}
