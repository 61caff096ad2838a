/**
 * Writes entries of the directory file to their tables. Fields that the file leaves out keep their current values, so
 * the caller must hold the lock of the directory. Only differences are written: if the same file is applied again,
 * nothing is written.
 */
import type { Queryable } from '../db/database.ts'
import { type Changes, changedFields } from './changes.ts'
import type { EntryTable, FieldValues, LinkTable } from './tables.ts'

/** An entry of the file. */
export type InputEntry = {
  /** Values of the key's columns. */
  key: { code: string } & Record<string, unknown>
  /** The entry's name in the list of changes. */
  shownCode: string
  /** The id that the entry gets if it is new. */
  id: string
  /** The fields of the entry. Absent fields are undefined. */
  input: FieldValues
}

type Whole = InputEntry & { before: FieldValues | null; after: FieldValues }

/**
 * Maximum number of entries in one statement. It bounds the memory of the statement, even if each entry has a picture.
 */
const entriesAtOnce = 500

/**
 * Inserts new entries and updates changed ones.
 *
 * @param changes receives what was inserted and updated
 */
export async function writeEntries(
  transaction: Queryable,
  table: EntryTable,
  entries: readonly InputEntry[],
  { changes, now }: { changes: Changes; now: Date },
): Promise<void> {
  for (let from = 0; from < entries.length; from += entriesAtOnce) {
    const some = entries.slice(from, from + entriesAtOnce)
    const present = await readPresent(transaction, table, some)
    const changed: Whole[] = []
    for (const [index, entry] of some.entries()) {
      const before = present[index] ?? null
      const after = mergedValues(table, entry, before)
      const fields = changedFields(table, before, after)
      if (before && Object.keys(fields).length === 0) continue
      changed.push({ ...entry, before, after })
      changes.add({ kind: table.kind, code: entry.shownCode, change: before ? 'updated' : 'created', fields })
    }
    if (changed.length > 0) await writeChanged(transaction, table, changed, now)
  }
}

/** The values of an entry after the file is applied. */
function mergedValues(table: EntryTable, { key, input }: InputEntry, before: FieldValues | null): FieldValues {
  const mergedValue = (name: string, initial: unknown) => {
    if (input[name] !== undefined) return input[name]
    return before ? before[name] : initial
  }
  const fields = Object.entries(table.fields)
  const values = Object.fromEntries(fields.map(([name, { initial }]) => [name, mergedValue(name, initial)]))
  return table.complete?.(values, key.code) ?? values
}

/** The current values of each entry; undefined for a new one. */
async function readPresent(
  transaction: Queryable,
  { name, key, fields }: EntryTable,
  entries: readonly InputEntry[],
): Promise<(FieldValues | undefined)[]> {
  const values = Object.entries(fields).map(([field, { column, read }]) => `'${field}', ${read ?? `t.${column?.name}`}`)
  const rows = await transaction.query<{ place: number; values: FieldValues }>(
    `select i.place::int, json_build_object(${values.join(', ')}) as values
     from ${inputOf(key)} join ${name} t on ${sameKey(key)}`,
    [JSON.stringify(entries.map(entry => entry.key))],
  )
  const present: (FieldValues | undefined)[] = entries.map(() => undefined)
  for (const row of rows) present[row.place - 1] = row.values
  return present
}

async function writeChanged(
  transaction: Queryable,
  table: EntryTable,
  changed: readonly Whole[],
  now: Date,
): Promise<void> {
  const columnsOf = (after: FieldValues) =>
    Object.entries(table.fields).flatMap(([name, { column, toColumn = asItIs }]) =>
      column ? [[column.name, toColumn(after[name])]] : [],
    )
  const rows = changed.map(({ key, id, after }) => ({
    ...Object.fromEntries(columnsOf(after)),
    ...key,
    [table.id]: id,
  }))
  const text = writeStatement(table)
  await transaction.execute(text, table.stamped ? [JSON.stringify(rows), now] : [JSON.stringify(rows)])
  for (const [name, { link }] of Object.entries(table.fields)) {
    if (link === undefined) continue
    const links = changed.map(({ key, after }) => ({ code: key.code, targets: link.targetsOf(after[name]) }))
    await writeLinks(transaction, link.table, links)
  }
}

const asItIs = (value: unknown): unknown => value

/**
 * Returns SQL that turns the JSON list `$1` into rows `i` with these columns. The column `place` numbers the rows
 * from 1.
 */
function inputOf(columns: Record<string, string>): string {
  const typed = Object.entries(columns).map(pair => pair.join(' '))
  return `rows from (json_to_recordset($1::json) as (${typed.join(', ')})) with ordinality as i (${[...Object.keys(columns), 'place'].join(', ')})`
}

function sameKey(key: Record<string, string>): string {
  return Object.keys(key)
    .map(column => `t.${column} = i.${column}`)
    .join(' and ')
}

/**
 * Returns the statement that updates the entries that exist and inserts the others. Both parts see the table as it was before
 * the statement, so no entry is both inserted and updated.
 */
function writeStatement({ name, key, id, fields, stamped }: EntryTable): string {
  const columns: Record<string, string> = {}
  for (const { column } of Object.values(fields)) if (column) columns[column.name] = column.type
  const all = { [id]: 'uuid', ...key, ...columns }
  const of = (alias: string, names: Record<string, string>) =>
    Object.keys(names)
      .map(column => `${alias}.${column}`)
      .join(', ')
  return `
    with input as (
      select * from ${inputOf(all)}
    ), updated as (
      update ${name} t set (${Object.keys(columns).join(', ')}) = row(${of('i', columns)})${stamped ? ', updated_at = greatest($2, t.updated_at)' : ''}
      from input i where ${sameKey(key)}
    )
    insert into ${name} (${Object.keys(all).join(', ')}${stamped ? ', created_at, updated_at' : ''})
    select ${of('i', all)}${stamped ? ', $2, $2' : ''} from input i
    where not exists (select from ${name} t where ${sameKey(key)}) order by i.place`
}

/**
 * Replaces rows of a link table, which connects owners with targets. Afterwards, each owner in `links` is connected
 * with exactly the targets that `links` names. Both are named by their codes.
 */
async function writeLinks(
  transaction: Queryable,
  { name, owner, target }: LinkTable,
  links: readonly { code: string; targets: readonly string[] }[],
): Promise<void> {
  const pairs = links.flatMap(({ code, targets }) => targets.map(to => [code, to] as const))
  await transaction.execute(
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
     )
     insert into ${name} (${owner.id}, ${target.id}) select ${owner.id}, ${target.id} from input on conflict do nothing`,
    [links.map(({ code }) => code), pairs.map(([code]) => code), pairs.map(([, to]) => to)],
  )
}
