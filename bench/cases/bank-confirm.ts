/**
 * A bank confirms campaigns over HTTP, compared with pgbench running the same statements; 64 clients each, alternating.
 */
import { confirm } from '../../src/campaigns/for-bank/operations.ts'
import { createClock } from '../../src/clock.ts'
import type { Database, Queryable, Statement } from '../../src/db/database.ts'
import { type Bench, type Case, using } from '../bench.ts'
import { type CampaignPlatform, columnsOf, createCampaign, serveCampaigns } from '../campaigns.ts'
import { requireExpected, runLoad } from '../load.ts'
import { clients, type PgbenchScript, pgbench } from '../pgbench.ts'
import { numberedId } from '../requests.ts'
import { compare } from '../rounds.ts'

const database = 'bench_bank_confirm'
const target = 0.5
const dayMs = 86_400_000

export const bankConfirmCase: Case = {
  name: 'bank-confirm',
  run: bench => using(serveCampaigns(bench, database), platform => measure(bench, platform)),
}

async function measure(bench: Bench, platform: CampaignPlatform) {
  const campaigns = createCampaigns(bench, platform, database)
  const [recorded] = await campaigns.add(1)
  const script = await record(platform, recorded ?? 0)
  const ours = (seconds: number) => confirmFor(seconds, { bench, platform, campaigns })
  const limit = async (seconds: number): Promise<number> => {
    const [first = 0] = await campaigns.add(clients * (bench.quick ? 100 : 200))
    const { server, folder } = bench
    return pgbench(server, { database, script, seconds, folder, variables: { i: 0, first } })
  }
  await ours(2)
  await limit(2)
  await bench.server.run(database, 'vacuum analyze')
  const compared = await compare(
    bench.rounds,
    () => ours(bench.seconds),
    () => limit(bench.seconds),
  )
  return [
    {
      name: 'a bank confirms campaigns over HTTP, against pgbench',
      ours: `${Math.round(compared.ours)}/s`,
      limit: `${Math.round(compared.limit)}/s`,
      ratio: compared.ratio,
      target: `>= ${target}`,
      pass: compared.ratio >= target,
    },
  ]
}

/** A bank confirms campaigns over HTTP for some seconds. @returns how many a second */
export async function confirmFor(
  seconds: number,
  at: { bench: Bench; platform: CampaignPlatform; campaigns: ReturnType<typeof createCampaigns> },
): Promise<number> {
  const { bench, platform, campaigns } = at
  const [first = 0] = await campaigns.add(bench.quick ? 5_000 : 10_000)
  const load = { kind: 'participate' as const, first }
  const token = platform.bankTokens[0] ?? null
  const result = await runLoad({ ports: [platform.port], token, connections: clients, seconds, load })
  requireExpected(result)
  return (result.answered.participate?.count ?? 0) / result.seconds
}

/** Makes a campaign for `add`, which copies it with numbered ids. In each copy, two banks are undecided. */
export function createCampaigns(bench: Bench, platform: CampaignPlatform, database: string) {
  let next = 1
  const made = createCampaign(platform, {
    dateFrom: new Date(Date.now() + dayMs),
    dateTo: new Date(Date.now() + 90 * dayMs),
  })
  return {
    /** @returns the number of the first copy */
    async add(count: number): Promise<[number]> {
      const first = next
      next += count
      const id = `lpad(to_hex(n), 32, '0')::uuid`
      await bench.server.run(
        database,
        `insert into campaigns (${await columnsOf(platform.database, 'campaigns')})
         select ${await columnsOf(platform.database, 'campaigns', 'copy')}
         from campaigns c, generate_series(${first}, ${next - 1}) n,
           jsonb_populate_record(c, jsonb_build_object('cashback_id', ${id})) copy where c.cashback_id = '${await made}'`,
        `insert into campaign_banks (cashback_id, bank_id, status, created_at, campaign_status, date_to)
         select ${id}, bank_id, status, created_at, campaign_status, date_to
         from campaign_banks, generate_series(${first}, ${next - 1}) n
         where cashback_id = '${await made}' and bank_id in ('${platform.bankIds[0]}', '${platform.bankIds[1]}')`,
      )
      return [first]
    },
  }
}

/** Runs one confirm and records its SQL statements. In the script, the campaign's number is a variable. */
async function record(platform: CampaignPlatform, number: number): Promise<PgbenchScript> {
  const statements: string[] = []
  const note = (statement: Statement | string, values: unknown[] = []) => {
    const text = typeof statement === 'string' ? statement : statement.text
    statements.push(text.replace(/\$(\d+)/g, (_, place) => literal(values[Number(place) - 1])))
  }
  const recording: Database = {
    ...platform.database,
    transaction: work =>
      platform.database.transaction(transaction => {
        const noted: Queryable = {
          query(statement, values) {
            note(statement, values)
            return transaction.query(statement, values)
          },
          tuples(statement, values) {
            note(statement, values)
            return transaction.tuples(statement, values)
          },
          execute(statement, values) {
            note(statement, values)
            return transaction.execute(statement, values)
          },
        }
        return work(noted)
      }),
  }
  const bankId = platform.bankIds[0] ?? ''
  const bank = { type: 'bank', bankId, role: 'ADMIN', userType: 'gateway_user', subject: 'bench' } as const
  const cashbackId = numberedId(number)
  await confirm({ database: recording, clock: createClock(), completeAfterMs: 0 }, { bank, cashbackId })
  const id = `lpad(to_hex(:number::bigint), 32, '0')`
  const text = ['begin', ...statements, 'commit']
    .map(statement => statement.replaceAll(/\s+/g, ' ').replaceAll(`'${cashbackId}'`, `${id}::uuid`))
    .map(statement => statement.replaceAll(`'{"${cashbackId}"}'`, `('{' || ${id} || '}')::uuid[]`))
    .join(';\n')
  return {
    name: 'bank-confirm',
    text: `\\set i :i + 1\n\\set number :first + (:i - 1) * ${clients} + :client_id\n${text};\n`,
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `'{${value.map(one => (one === null ? 'null' : `"${one}"`)).join(',')}}'`
  return `'${value instanceof Date ? value.toISOString() : value}'`
}
