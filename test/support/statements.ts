/** Many banks with statements of many days, for tests of the operator's list. */
import { type TestPlatform, testDirectory } from './platform.ts'

const codeOf = (number: number): string => `bank-${String(number).padStart(3, '0')}`

/** A directory with this many further banks: `bank-001` (Bank 001), `bank-002` and so on. */
export function withManyBanks(count: number, directory = testDirectory): string {
  const banks = Array.from({ length: count }, (_, index) => {
    const code = codeOf(index + 1)
    return `  - { code: ${code}, name: ${code.replace('b', 'B').replace('-', ' ')}, logoUrl: https://bank.example/logo.svg, apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }\n`
  })
  return directory.replace('merchants:\n', `${banks.join('')}merchants:\n`)
}

/** Gives each of the banks `bank-001` to number `banks` an empty statement for each day from `from` to `to`. */
export async function addStatements(
  platform: TestPlatform,
  { banks, from, to }: { banks: number; from: string; to: string },
): Promise<void> {
  await platform.platform.database.execute(
    `insert into statements (statement_id, bank_id, number, day, time_zone, from_at, to_at, closed_at, commission_percentage, totals,
       by_tariff, lines, late, sha256)
     select gen_random_uuid(), bank_id, row_number() over (partition by bank_id order by day), day, 'UTC', day::timestamp at time zone 'UTC',
       (day + 1)::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', 0, '[]', '[]', 0, 0, sha256(''::bytea)
     from banks, (select generate_series($1::date, $2::date, '1 day')::date as day) days
     where code between 'bank-001' and $3`,
    [from, to, codeOf(banks)],
  )
}
