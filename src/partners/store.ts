/** Writes the entries of a directory file to the tables of the directory. */
import { randomUUID } from 'node:crypto'
import type { Queryable } from '../db/database.ts'
import type { Changes } from './changes.ts'
import { type InputEntry, writeEntries } from './entry-writer.ts'
import type { Directory } from './file/directory-file.ts'
import { tariffKey } from './file/directory-schema.ts'
import { type EntryTable, type FieldValues, mobileOperators, tariffs } from './tables.ts'

type MobileOperators = NonNullable<Directory['mobileOperators']>
type Entry = { code: string; id: string | undefined }
export type Writing = { changes: Changes; now: Date }

/** Writes entries whose only key is their code. */
export function writeByCode(
  transaction: Queryable,
  table: EntryTable,
  entries: readonly Entry[],
  writing: Writing,
): Promise<void> {
  const params = entries.map(entry => inputEntry(entry, { code: entry.code }, entry.code))
  return writeEntries(transaction, table, params, writing)
}

/** Writes the tariffs of these mobile operators, which must exist already. */
export async function writeTariffs(
  transaction: Queryable,
  operators: MobileOperators,
  writing: Writing,
): Promise<void> {
  const idOf = await idsByCode(transaction, mobileOperators.name, 'mobile_operator_id', operators)
  const present = await transaction.query<{ operatorId: string | number; code: string; position: number }>(
    `select mobile_operator_id as "operatorId", code, position from tariffs where mobile_operator_id = any($1)`,
    [operators.map(({ code }) => idOf(code))],
  )
  const presentOf = Map.groupBy(present, ({ operatorId }) => operatorId)
  const params = operators.flatMap(operator => {
    const operatorId = idOf(operator.code)
    const codes = operator.tariffs.map(({ code }) => code)
    const positions = tariffPositions(codes, presentOf.get(operatorId) ?? [])
    return operator.tariffs.map((tariff, index) =>
      inputEntry(
        { ...tariff, position: positions[index] },
        { mobile_operator_id: operatorId, code: tariff.code },
        tariffKey(operator.code, tariff.code),
      ),
    )
  })
  await writeEntries(transaction, tariffs, params, writing)
}

/**
 * The positions of an operator's tariffs. If the file names all existing tariffs, they get the file's order. Otherwise
 * existing tariffs keep their order, and new tariffs follow.
 */
function tariffPositions(codes: readonly string[], present: readonly { code: string; position: number }[]): number[] {
  const named = new Set(codes)
  if (present.every(({ code }) => named.has(code))) return codes.map((_, index) => index)
  const known = new Map(present.map(({ code, position }) => [code, position]))
  let last = Math.max(...known.values())
  return codes.map(code => known.get(code) ?? ++last)
}

function inputEntry(
  { code, id, ...fields }: Entry & Record<string, unknown>,
  key: InputEntry['key'],
  shownCode: string,
): InputEntry {
  return { key, shownCode, id: id ?? randomUUID(), input: flattened(fields) }
}

/** Flattens nested fields: `{ currency: { code } }` becomes `{ 'currency.code': code }`. */
function flattened(fields: object, prefix = ''): FieldValues {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(flattened(value, `${prefix}${name}.`))
        : [[prefix + name, value]],
    ),
  )
}

/** @returns a function that finds the id of an entry by its code */
export async function idsByCode(
  transaction: Queryable,
  table: string,
  id: string,
  entries: readonly { code: string }[],
): Promise<(code: string) => string | number> {
  const rows = await transaction.query<{ code: string; id: string | number }>(
    `select code, ${id} as id from ${table} where code = any($1)`,
    [entries.map(({ code }) => code)],
  )
  const ids = new Map(rows.map(row => [row.code, row.id]))
  return code => {
    const found = ids.get(code)
    if (found === undefined) throw new Error(`${table} lacks an entry that was just written`)
    return found
  }
}

/** Updates `updated_at` of merchants after a change in another table. */
export async function touchMerchants(transaction: Queryable, codes: readonly string[], now: Date): Promise<void> {
  await transaction.execute('update merchants set updated_at = greatest($2, updated_at) where code = any($1)', [
    codes,
    now,
  ])
}

const applyLock = 7_365_013

/** Lets only one directory file be applied at a time. The lock is held until the transaction ends. */
export async function lockDirectory(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [applyLock])
}

/** Raises the directory's version. The copies that processes keep in memory are then no longer valid. */
export async function raiseVersion(transaction: Queryable): Promise<void> {
  await transaction.execute('update directory_version set version = version + 1')
}
