/**
 * How entries of the directory file get into their tables: each table is declared once, by its columns, and written by one
 * statement that touches only what differs. So an apply of the same file writes nothing.
 */
import type { Queryable } from '../db/database.ts'

export type EntryTable = {
  name: string
  /** The columns that find the entry again; `code` is one of them. */
  key: string[]
  /** Made for a new entry and kept ever after. */
  id: string
  /** Every column that the file decides, with its type. */
  columns: Record<string, string>
  /** It has `created_at` and `updated_at`. */
  stamped?: boolean
}

export type Written = { code: string; created: boolean }

/** Bounds what one statement holds, also in the worst case of a picture in each entry. */
const entriesAtOnce = 500

/**
 * Makes the entries that are new and changes those that differ.
 *
 * @param rows by column name, with the id for the case that the entry is new
 * @returns the entries that were made or changed
 */
export async function writeEntries(
  transaction: Queryable,
  table: EntryTable,
  rows: readonly object[],
  now: Date,
): Promise<Written[]> {
  const text = writeStatement(table)
  const written: Written[] = []
  for (let from = 0; from < rows.length; from += entriesAtOnce) {
    const some = JSON.stringify(rows.slice(from, from + entriesAtOnce))
    written.push(...(await transaction.query<Written>(text, table.stamped ? [some, now] : [some])))
  }
  return written
}

function writeStatement({ name, key, id, columns, stamped }: EntryTable): string {
  const given = Object.entries({ [id]: 'uuid', ...columns })
  const all = given.map(([column]) => column)
  const changing = Object.keys(columns).filter(column => !key.includes(column))
  const of = (alias: string, names: string[]) => names.map(column => `${alias}.${column}`).join(', ')
  const same = key.map(column => `t.${column} = i.${column}`).join(' and ')
  return `
    with input as (
      select * from rows from (json_to_recordset($1::json) as (${given.map(pair => pair.join(' ')).join(', ')}))
        with ordinality as i (${all.join(', ')}, place)
    ), updated as (
      update ${name} t set (${changing.join(', ')}) = row(${of('i', changing)})${stamped ? ', updated_at = $2' : ''}
      from input i where ${same} and (${of('t', changing)}) is distinct from (${of('i', changing)})
      returning t.code
    ), created as (
      insert into ${name} (${all.join(', ')}${stamped ? ', created_at, updated_at' : ''})
      select ${of('i', all)}${stamped ? ', $2, $2' : ''} from input i
      where not exists (select from ${name} t where ${same}) order by i.place
      returning code
    )
    select code, false as created from updated union all select code, true from created`
}

/** A table of pairs: which of the targets an owner has. */
export type LinkTable = { name: string; owner: { table: string; id: string }; target: { table: string; id: string } }

/**
 * Gives each owner exactly these targets.
 *
 * @param links codes; owners that are not among them keep theirs
 * @returns the codes of the owners whose targets have changed
 */
export async function writeLinks(
  transaction: Queryable,
  { name, owner, target }: LinkTable,
  links: readonly { code: string; targets: readonly string[] }[],
): Promise<string[]> {
  const pairs = links.flatMap(({ code, targets }) => targets.map(to => [code, to] as const))
  const rows = await transaction.query<{ code: string }>(
    `with owners as (
       select ${owner.id}, code from ${owner.table} where code = any($1::text[])
     ), input as (
       select o.${owner.id}, t.${target.id}
       from unnest($2::text[], $3::text[]) as i (owner, target)
       join owners o on o.code = i.owner join ${target.table} t on t.code = i.target
     ), removed as (
       delete from ${name} l using owners o
       where l.${owner.id} = o.${owner.id}
         and not exists (select from input i where i.${owner.id} = l.${owner.id} and i.${target.id} = l.${target.id})
       returning l.${owner.id}
     ), added as (
       insert into ${name} (${owner.id}, ${target.id}) select ${owner.id}, ${target.id} from input
       on conflict do nothing returning ${owner.id}
     )
     select code from owners where ${owner.id} in (select ${owner.id} from removed union all select ${owner.id} from added)`,
    [links.map(({ code }) => code), pairs.map(([code]) => code), pairs.map(([, to]) => to)],
  )
  return rows.map(({ code }) => code)
}
