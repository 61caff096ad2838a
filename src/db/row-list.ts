/**
 * A list of rows as parameters of a statement: one array for each column. The columns and their types are written once, so
 * the SQL and the values cannot differ in their order.
 */
export type RowList<Field extends string> = {
  /**
   * SQL for the rows, to be used in `from`. The column of the field `bankId` is `bank_id`.
   *
   * @param number the name of an additional column with the row's number, from 1
   */
  from(name: string, number?: string): string
  /** SQL for one column, as an array. */
  array(field: Field): string
  /** The parameters: an array for each column. */
  values(rows: readonly Record<Field, unknown>[]): unknown[][]
  /** The number of the parameter after the last array. */
  next: number
}

/**
 * @param first the number of the first array's parameter
 * @param types the fields of a row and their types in PostgreSQL
 */
export function rowList<Field extends string>(first: number, types: Record<Field, string>): RowList<Field> {
  const fields = Object.keys(types) as Field[]
  const columns = fields.map(field => field.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`))
  const array = (field: Field) => `$${first + fields.indexOf(field)}::${types[field]}[]`
  const arrays = fields.map(array).join(', ')
  return {
    from: (name, number) =>
      number === undefined
        ? `unnest(${arrays}) as ${name} (${columns.join(', ')})`
        : `unnest(${arrays}) with ordinality as ${name} (${[...columns, number].join(', ')})`,
    array,
    values: rows => fields.map(field => rows.map(row => parameterOf(row[field]))),
    next: first + fields.length,
  }
}

/** `toISOString` is much quicker than the driver's own conversion, which looks up the time zone of each date. */
const parameterOf = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)
