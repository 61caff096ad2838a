/** Stores the terminals of merchants. There may be hundreds of thousands, so they are compared in the database. */
import { endedStatusesSql } from '../campaigns/lifecycle/transitions.ts'
import type { Queryable } from '../db/database.ts'
import type { TerminalsChange } from './changes.ts'
import type { DirectoryTerminal } from './file/terminals-file.ts'

export type MerchantTerminals = { merchantId: string; terminals: readonly DirectoryTerminal[] }

const terminalsAtOnce = 2_000
const values = 'name, location, payment_system_merchant_id, payment_system_merchant_name'
const valuesOf = (alias: string) => values.replaceAll(/\w+/g, column => `${alias}.${column}`)

/**
 * Replaces the terminals of these merchants. Other merchants keep theirs.
 *
 * @param now the time at which new terminals are added
 * @returns the changes, by the id of the merchant
 */
export async function replaceTerminals(
  transaction: Queryable,
  params: MerchantTerminals[],
  now: Date,
): Promise<Map<string, TerminalsChange>> {
  const changed = new Map<string, TerminalsChange>()
  if (params.length === 0) return changed
  await stage(transaction, params, now)
  const merchantIds = params.map(({ merchantId }) => merchantId)
  await keepRemoved(transaction, merchantIds, now)
  for (const [name, statement] of steps) {
    const rows = await transaction.query<{ merchantId: string; count: number }>(
      `with changed as (${statement} returning t.merchant_id)
       select merchant_id as "merchantId", count(*)::int as count from changed group by merchant_id`,
      [merchantIds],
    )
    for (const { merchantId, count } of rows) {
      const change = changed.get(merchantId) ?? { added: 0, removed: 0, changed: 0 }
      changed.set(merchantId, { ...change, [name]: count })
    }
  }
  return changed
}

/** The condition for terminals of the merchants $1 that the applied directory leaves out. */
const isLeftOut = `t.merchant_id = any($1) and not exists (
  select from applied_terminals a where a.merchant_id = t.merchant_id and a.terminal_id = t.terminal_id)`

/** How long removed terminals are kept at most. */
const removedFor = '3 years'

/**
 * Stores the removal time of the terminals that the next step deletes, because their earlier purchases may be reported
 * later (contract/reconciliation.md, "Differences"). If a removal time is stored already, the later one is kept,
 * because the clock of a sandbox can be turned back.
 *
 * Also deletes old rows of `removed_terminals`, for all merchants, so that the table stays small: rows that no campaign
 * needs any longer, and rows of terminals that were removed more than 3 years ago.
 */
async function keepRemoved(transaction: Queryable, merchantIds: string[], now: Date): Promise<void> {
  await transaction.execute(
    `insert into removed_terminals as r (merchant_id, terminal_id, removed_at)
     select t.merchant_id, t.terminal_id, $2 from terminals t where ${isLeftOut}
     on conflict (merchant_id, terminal_id) do update set removed_at = greatest(r.removed_at, excluded.removed_at)`,
    [merchantIds, now],
  )
  await transaction.execute(
    `delete from removed_terminals r using (
       select m.merchant_id, min(c.created_at) as needed_since
       from (select distinct merchant_id from removed_terminals) m
       left join campaigns c on c.merchant_id = m.merchant_id and c.status not in ${endedStatusesSql}
       group by m.merchant_id
     ) n
     where r.merchant_id = n.merchant_id
       and (n.needed_since is null or r.removed_at < n.needed_since or r.removed_at < $1::timestamptz - interval '${removedFor}')`,
    [now],
  )
}

const steps: [keyof TerminalsChange, string][] = [
  ['removed', `delete from terminals t where ${isLeftOut}`],
  [
    'changed',
    `update terminals t set (${values}) = row(${valuesOf('a')}) from applied_terminals a
     where t.merchant_id = any($1) and a.merchant_id = t.merchant_id and a.terminal_id = t.terminal_id
       and (${valuesOf('t')}) is distinct from (${valuesOf('a')})`,
  ],
  [
    'added',
    `insert into terminals as t (merchant_id, terminal_id, ${values}, added_at)
     select a.merchant_id, a.terminal_id, ${valuesOf('a')}, a.added_at from applied_terminals a
     where a.merchant_id = any($1) on conflict do nothing`,
  ],
]

/**
 * Writes the terminals to a temporary table, at most `terminalsAtOnce` with each statement. The process can serve other
 * requests in between.
 */
async function stage(transaction: Queryable, params: MerchantTerminals[], now: Date): Promise<void> {
  await transaction.execute(
    `create temporary table applied_terminals (
       merchant_id uuid, terminal_id text, name text, location text, payment_system_merchant_id text, payment_system_merchant_name text,
       added_at timestamptz
     ) on commit drop`,
  )
  for (const { merchantId, terminals } of params) {
    for (let from = 0; from < terminals.length; from += terminalsAtOnce) {
      const some = terminals.slice(from, from + terminalsAtOnce)
      await transaction.execute(
        `insert into applied_terminals
         select $1, *, $7 from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])`,
        [
          merchantId,
          some.map(({ terminalId }) => terminalId),
          some.map(({ name }) => name),
          some.map(({ location }) => location),
          some.map(({ paymentSystemMerchantId }) => paymentSystemMerchantId),
          some.map(({ paymentSystemMerchantName }) => paymentSystemMerchantName),
          now,
        ],
      )
    }
  }
  // The planner does not know the size of this new table. If it guesses wrong and there is no index, the statements
  // take minutes.
  await transaction.execute('create index on applied_terminals (merchant_id, terminal_id)')
  await transaction.execute('analyze applied_terminals')
}
