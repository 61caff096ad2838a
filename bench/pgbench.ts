/** Runs pgbench with the same SQL statements as the platform. It shows how fast PostgreSQL alone is: the limit. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { recordingOrders } from '../src/outbox/rows.ts'
import type { DatabaseServer } from './database.ts'
import { runProgram } from './processes.ts'

export const clients = 64

export type PgbenchScript = { name: string; text: string }

/**
 * Runs a script with 64 clients.
 *
 * @param options.variables variables of the script, such as the first free id
 * @returns transactions per second, without the time to connect
 */
export async function pgbench(
  server: DatabaseServer,
  options: {
    database: string
    script: PgbenchScript
    seconds: number
    folder: string
    variables: Record<string, number>
  },
): Promise<number> {
  if (!server.pgbench) throw new Error('pgbench is missing: install PostgreSQL (Debian: postgresql)')
  const { database, script, seconds, folder, variables } = options
  const file = join(folder, `${script.name}.sql`)
  await writeFile(file, script.text)
  const defined = Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`])
  const printed = await runProgram(server.pgbench, [
    ...['-n', '-M', 'prepared', '-c', String(clients), '-j', '2', '-T', String(seconds), '-f', file, ...defined],
    ...['-h', server.socketFolder, '-p', String(server.port), '-U', 'perkline', database],
  ])
  const tps = Number(/^tps = ([\d.]+)/m.exec(printed)?.[1])
  const failed = Number(/^number of failed transactions: (\d+)/m.exec(printed)?.[1] ?? 0)
  if (!(tps > 0) || failed > 0) throw new Error(`pgbench: ${printed.trim().slice(-500)}`)
  return tps
}

/**
 * Sets the next profile id. The clients of a run use different ids. The caller sets `first` above the ids of the
 * previous run.
 */
const nextProfile = `\\set i :i + 1
\\set profile_id :first + :i * ${clients} + :client_id
`

// The ids ascend like the platform's ids. Random ids would split pages all over the index and make pgbench slower, so
// the limit would be too low.
const insert = (bankId: string, tariffId: number) => `
insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until)
values (lpad(to_hex(:profile_id::bigint), 32, '0')::uuid, '${bankId}', 'limit-' || :profile_id::text, ${tariffId},
        :profile_id::bigint, 'reserved', 399.00, 'UAH', now(), now() + interval '15 minutes')
on conflict do nothing returning order_id;
`

// The update sets `ended_by`. Otherwise a trigger would write the outbox row, which this statement writes itself.
const update = (bankId: string) => `
with confirmed as (
  update orders set status = 'confirmed', confirmed_at = now(), delivery_mode = 'local', ended_by = 'pk_bench'
  where order_id = lpad(to_hex(:profile_id::bigint), 32, '0')::uuid and bank_id = '${bankId}' and status = 'reserved'
    and reserved_until > now()
  returning order_id, bank_id
), recorded as (${recordingOrders('order.confirmed', 'confirmed')})
select order_id from confirmed;
`

/** The insert of a reservation. It inserts nothing when the profile is already taken. */
export const reserveScript = (bankId: string, tariffId: number): PgbenchScript => ({
  name: 'reserve',
  text: nextProfile + insert(bankId, tariffId),
})

/** Reserves and then confirms an order, and writes the outbox row. Two commits, as for two requests. */
export const sellScript = (bankId: string, tariffId: number): PgbenchScript => ({
  name: 'sell',
  text: nextProfile + insert(bankId, tariffId) + update(bankId),
})
