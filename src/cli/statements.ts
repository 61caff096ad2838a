/** The commands of `perkline statements`, and `perkline orders find`. */
import { callAdmin, fetchAdmin } from './connection.ts'
import { CommandError } from './failure.ts'
import { writeWhole } from './files.ts'
import { counted, type OutputOptions, plain, print, table } from './output.ts'

export type DaysOptions = OutputOptions & { bank?: string; from?: string; to?: string }

type Total = { currency: string; sales: number; gross: string; commission: string; net: string }
type Statement = {
  statementId: string
  bank: { code: string }
  number: number
  day: string
  timeZone: string
  from: string
  to: string
  closedAt: string
  commissionPercentage: string
  totals: Total[]
  late: number
  sha256: string
}
type Missing = { bank: { code: string }; day: string }

const queryOf = ({ bank, from, to }: DaysOptions): string =>
  new URLSearchParams({ ...(bank && { bank }), ...(from && { from }), ...(to && { to }) }).toString()

const netOf = ({ totals }: Statement): string =>
  totals.map(({ net, currency }) => `${net} ${currency}`).join(', ') || '-'
const salesOf = ({ totals }: Statement): number => totals.reduce((sum, { sales }) => sum + sales, 0)

/** `perkline statements list`: the closed statements of a range of days, and the first missing day of each bank. */
export async function listStatements(options: DaysOptions): Promise<void> {
  const found = await callAdmin<{ data: Statement[]; missing: Missing[]; nextCursor: string | null }>({
    method: 'GET',
    path: `/statements?${queryOf(options)}`,
  })
  const rows = found.data.map(one => [
    one.bank.code,
    one.day,
    one.number,
    salesOf(one),
    netOf(one),
    one.late,
    one.statementId,
  ])
  print(options, found, [
    ...table(['BANK', 'DAY', 'NUMBER', 'SALES', 'NET', 'LATE', 'ID'], rows),
    ...(found.nextCursor ? [`only the newest ${rows.length} are listed: use --bank, --from and --to for others`] : []),
    ...found.missing.map(({ bank, day }) => `missing: ${plain(bank.code)} since ${day}`),
  ])
}

/** `perkline statements show ID`. */
export async function showStatement(id: string, options: OutputOptions): Promise<void> {
  const one = await callAdmin<Statement>({ method: 'GET', path: `/statements/${encodeURIComponent(id)}` })
  const rows = one.totals.map(({ currency, sales, gross, commission, net }) => [
    currency,
    sales,
    gross,
    commission,
    net,
  ])
  print(options, one, [
    `${plain(one.bank.code)} ${one.number}: ${one.day} (${plain(one.timeZone)})`,
    `from ${one.from} to ${one.to}, closed ${one.closedAt}`,
    `commission ${one.commissionPercentage} %, ${counted(one.late, 'late line', 'late lines')}`,
    `sha256 ${one.sha256}`,
    ...table(['CURRENCY', 'SALES', 'GROSS', 'COMMISSION', 'NET'], rows),
  ])
}

/**
 * `perkline statements export FILE.csv`: writes the files of a range of days, one after the other and unchanged, to
 * one file.
 */
export async function exportStatements(path: string, options: DaysOptions): Promise<void> {
  const body = await fetchAdmin({ method: 'GET', path: `/statements.csv?${queryOf(options)}` })
  let bytes = 0
  const counting = async function* () {
    for await (const chunk of body) {
      bytes += chunk.length
      yield chunk
    }
  }
  await writeWhole(path, counting())
  print(options, { file: path, bytes }, [`${plain(path)}: ${counted(bytes, 'byte', 'bytes')}`])
}

type Verified = { ok: boolean; checks: { name: string; ok: boolean; detail: string }[] }

/**
 * `perkline statements verify`: checks the statements of one bank or of all banks.
 *
 * @throws CommandError when a check fails, after printing all results
 */
export async function verifyStatements(options: OutputOptions & { bank?: string }): Promise<void> {
  const path = `/statements/verify?${queryOf(options)}`
  const result = await callAdmin<Verified>({ method: 'GET', path, long: true })
  const lines = result.checks.map(({ ok, name, detail }) => plain(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${detail}`))
  print(options, result, lines)
  if (!result.ok) throw new CommandError('The statements are broken.')
}

type Order = { bank: { code: string }; orderId: string; externalId: string; status: string; createdAt: string }

export type FindOrderOptions = OutputOptions & { externalId: string; bank?: string }

/** `perkline orders find`: the orders with this exact externalId. */
export async function findOrders(options: FindOrderOptions): Promise<void> {
  const query = new URLSearchParams({
    externalId: options.externalId,
    exact: 'true',
    ...(options.bank && { bank: options.bank }),
  })
  const { data } = await callAdmin<{ data: Order[] }>({ method: 'GET', path: `/orders?${query}` })
  const rows = data.map(one => [one.bank.code, one.orderId, one.status, one.createdAt, plain(one.externalId)])
  print(options, data, table(['BANK', 'ORDER', 'STATUS', 'MADE', 'EXTERNAL ID'], rows))
}
