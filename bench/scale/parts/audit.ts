/** Compares the processor time of an audit with the time that the database needs to read the same tables completely. */

import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Bench } from '../../bench.ts'
import { cpuMsOf } from '../../processes.ts'
import type { Figure } from '../../report.ts'
import { attempt, type Part } from '../compared.ts'
import type { Side } from '../sides.ts'

/** The tables whose rows the audit reads; in the full world each has more than a million. */
const tables = [
  'profiles',
  'orders',
  'statement_lines',
  'statement_files',
  'sales_hours',
  'sales_days',
  'campaigns',
  'campaign_banks',
  'campaign_history',
  'events',
]
const target = 3

/**
 * How often the tables are read. The measured time is divided by this number. Linux counts processor time in hundredths
 * of a second, so one reading would be too short to measure. Only processor time is compared, because waiting depends
 * on other work on the machine.
 */
const readings = 5

export const auditPart: Part = {
  name: 'audit',
  async run(bench, sides) {
    const figures: Figure[] = []
    for (const side of [sides.small, sides.large])
      figures.push(
        await attempt(`audit of the ${side.name} world`, `<= ${target}`, async () => {
          const limit = (await workOf(bench, side, () => readTables(bench, side))) / readings
          const ours = await workOf(bench, side, () => audit(side))
          const ratio = ours / limit
          return {
            name: `audit of the ${side.name} world, against reading its tables once: processor time`,
            ours: `${(ours / 1_000).toFixed(1)} s`,
            limit: `${(limit / 1_000).toFixed(1)} s`,
            ratio,
            // The small world has no target: an audit has many steps, and there their fixed cost takes most of the
            // time.
            target: side === sides.large ? `<= ${target}` : '',
            pass: side === sides.large ? ratio <= target : null,
          }
        }),
      )
    return figures
  },
}

/** @returns milliseconds of processor time of the database and the platform */
async function workOf({ server }: Bench, { child }: Side, run: () => Promise<void>): Promise<number> {
  const workMs = () => server.cpuMs() + cpuMsOf(child.pid)
  const before = workMs()
  await run()
  return workMs() - before
}

async function readTables({ server }: Bench, { database }: Side): Promise<void> {
  const copies = tables.map(table => `copy (select * from ${table}) to '/dev/null' (format binary)`)
  for (let reading = 0; reading < readings; reading++) await server.run(database, ...copies)
}

/** @throws Error when a check fails, because then an earlier part has left wrong data */
async function audit({ port, operatorKey }: Side): Promise<void> {
  // `fetch` would give up after five minutes.
  const agent = new Agent()
  const params = get({ port, path: '/admin/audit', agent, headers: { authorization: `Bearer ${operatorKey}` } })
  const [answer] = (await once(params, 'response')) as [IncomingMessage]
  const told = await text(answer)
  if (answer.statusCode !== 200) throw new Error(`It answers ${answer.statusCode}: ${told.slice(0, 200)}`)
  const { checks } = JSON.parse(told) as { checks: { ok: boolean; name: string; detail: string }[] }
  const failed = checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)
  if (failed.length > 0) throw new Error(failed.join('; ').slice(0, 500))
}
