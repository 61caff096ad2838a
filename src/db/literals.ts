/** Writes values as SQL literals, for statements that take no parameters, such as `copy`. */
import pg from 'pg'

/** `sql`: a part of the statement, inserted as it is. */
export type Literal = string | Date | readonly string[] | { sql: string } | null

/** Replaces `$1`, `$2` ... of a statement by literals. */
export const withLiterals = (text: string, values: readonly Literal[]): string =>
  text.replace(/\$(\d+)/g, (_, number) => literal(values[Number(number) - 1] ?? null))

function literal(value: Literal): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return pg.escapeLiteral(value)
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  if ('sql' in value) return value.sql
  return `array[${value.map(pg.escapeLiteral).join(', ')}]`
}
