/**
 * Checks rules over the stored data piece by piece. A piece is a range of keys of a table. A few short statements check
 * it, because PostgreSQL cannot clean up deleted rows while a long statement runs. Other processes write meanwhile, and
 * each statement reads the data as of its own start. So a rule over several tables must be checked in one statement.
 */
import pg from 'pg'
import type { Queryable } from './database.ts'

export type Check = {
  /** A code that identifies the check and never changes. Clients translate it. */
  code: string
  name: string
  /** The text of the result when no row breaks the rule. In it, `{name}` stands for a count. */
  holds: string
  /** The names of the numbers that programs get with the result when no row breaks the rule. */
  params?: readonly string[]
}

/**
 * `params` has the numbers that the text `detail` contains. It is missing when the check fails, or when there are no
 * numbers.
 */
export type CheckResult = { code: string; name: string; ok: boolean; detail: string; params?: Record<string, number> }

/** One violation that a check found. `text` describes it in plain words and contains no secrets. */
export type Finding = { code: string; text: string }

/**
 * `counts[code][name]` is the count with this name, for the check with this code. The counts of all ranges of keys are
 * added up.
 */
export type Counts = Record<string, Record<string, number>>

export type Piece = {
  findings: Finding[]
  counts: Counts
  /** The approximate number of rows in this range of keys. */
  rows: number
  /** The last key of this range, as text: the next range begins after it. null: this was the last range. */
  reached: string[] | null
}

/** One part of the audit. Each call of `next` checks one range of keys. */
export type Step = {
  /** A unique name. An interrupted audit stores it to know where to continue. */
  name: string
  /** The table whose number of rows tells how much work this step is. */
  table: string
  /** Checks the next range of keys. @param after the last key of the previous range; null for the first range */
  next(database: Queryable, after: string[] | null): Promise<Piece>
}

type Rule = {
  code: string
  /** The SQL condition that is true for a row that breaks the rule; null counts as false. */
  broken: string
  /** The SQL expression for the text of a violation. It is evaluated only for rows that break the rule. */
  text: string
}

/** Builds the SQL condition that the key in these columns is in the range of keys that is checked. */
export type Within = (...columns: string[]) => string

export type Walk = {
  name: string
  table: string
  /**
   * The columns of an index, in the same order, with their types. The table is checked in ranges of these keys. The
   * ranges have no gaps between them, so that they also contain rows of other tables whose key this table lacks.
   */
  key: readonly (readonly [column: string, type: string])[]
  /** How many rows of the table are in one range of keys. */
  rows: number
  /**
   * `of` is the SQL expression for the amount of work that a row causes. When the sum over the rows reaches `max`, the
   * range ends, even with fewer than `rows` rows.
   */
  weight?: { of: string; max: number }
  /**
   * SQL that returns a row when the database already guarantees the rules, for example by a unique index. The check
   * then need not read anything.
   */
  guaranteedBy?: string
  /** The statements that check one range of keys. */
  reads: (within: Within) => readonly Read[]
}

export type Read = {
  /** The table whose rows are checked; shown in the list of running statements. */
  of: string
  /** SQL that follows `from`. */
  from: string
  rules: readonly Rule[]
  /** `counts[code][name]` is the SQL expression of the count with this name, for the check with this code. */
  counts?: Record<string, Record<string, string>>
  /**
   * Waits until background work that the rules rely on, such as the numbering of events, is done. It is called when
   * rows break a rule. Their violations are reported only if a second check finds them again.
   */
  caughtUp?: (() => Promise<void>) | undefined
}

/** A step that walks over a table in the order of a key. */
export function walkOver(walk: Walk): Step {
  return {
    name: walk.name,
    table: walk.table,
    async next(database, after) {
      if (walk.guaranteedBy && !after && (await database.query(walk.guaranteedBy)).length > 0)
        return { findings: [], counts: {}, rows: 0, reached: null }
      const [bound] = await database.query<Record<string, string>>(boundOf(walk)(after))
      const reached = bound ? Object.values(bound) : null
      const piece: Piece = { findings: [], counts: {}, rows: walk.rows, reached }
      for (const read of walk.reads(rangeOf(walk.key, after, reached))) await take(database, read, piece)
      return piece
    },
  }
}

/** A step that checks a whole table with one statement. Use it for tables whose rows have no useful order. */
export function checkAtOnce({ name, table, read }: { name: string; table: string; read: Read }): Step {
  return {
    name,
    table,
    async next(database) {
      const piece: Piece = { findings: [], counts: {}, rows: 0, reached: null }
      await take(database, read, piece)
      return piece
    },
  }
}

type Key = Walk['key']

const listOf = (columns: readonly string[]): string => (columns.length === 1 ? String(columns) : `(${columns})`)
const valuesOf = (key: Key, values: string[]): string =>
  listOf(key.map(([, type], index) => `${pg.escapeLiteral(values[index] ?? '')}::${type}`))

const boundOf =
  ({ table, key, rows, weight }: Walk) =>
  (after: string[] | null): string => {
    const columns = key.map(([column]) => column)
    // Each text gets an alias. Without it, the text would have the name of its column, and `order by` would sort by the
    // text and not by the column.
    const texts = columns.map((column, index) => `${column}::text as key${index}`)
    const range = rangeOf(key, after, null)(...columns)
    if (!weight) return `select ${texts} from ${table} where ${range} order by ${columns} offset ${rows - 1} limit 1`
    return `select ${texts} from (
        select ${columns}, row_number() over so_far as n, sum(weight) over so_far as weight from (
          select ${columns}, ${weight.of} as weight from ${table} where ${range} order by ${columns} limit ${rows}
        ) as weighed window so_far as (order by ${columns})
      ) as piece where n = ${rows} or weight >= ${weight.max} order by ${columns} limit 1`
  }

const rangeOf =
  (key: Key, after: string[] | null, upTo: string[] | null): Within =>
  (...columns) =>
    [
      ...(after ? [`${listOf(columns)} > ${valuesOf(key, after)}`] : []),
      ...(upTo ? [`${listOf(columns)} <= ${valuesOf(key, upTo)}`] : []),
      // Without bounds, check all rows except those with a null key, which ranges with bounds exclude, too. This
      // condition also lets PostgreSQL use the index.
      ...(after || upTo ? [] : columns.map(column => `${column} is not null`)),
    ].join(' and ')

async function take(database: Queryable, read: Read, piece: Piece): Promise<void> {
  const names = Object.entries(read.counts ?? {}).flatMap(([code, byName]) =>
    Object.entries(byName).map(([name, sql]) => ({ code, name, sql })),
  )
  const text = textOf(
    read,
    names.map(({ sql }) => sql),
  )
  const [row] = await database.query<Record<string, unknown>>(text)
  for (const [index, { code, name }] of names.entries())
    addCount(piece.counts, code, name, Number(row?.[`count${index}`]))
  piece.findings.push(...(await stillBroken(database, text, findingsOf(row), read.caughtUp)))
}

function textOf({ of, from, rules }: Read, counts: readonly string[]): string {
  const found = rules.map(
    ({ code, broken, text }) => `case when ${broken} then jsonb_build_array('${code}', ${text}) end`,
  )
  return `/* audit of ${of} */ select ${counts.map((sql, index) => `${sql} as count${index}, `).join('')}
       jsonb_agg(jsonb_build_array(${found.join(', ') || 'null'})) filter (where ${rules.map(({ broken }) => `(${broken})`).join(' or ') || 'false'}) as found
     from ${from}`
}

function findingsOf(row: Record<string, unknown> | undefined): Finding[] {
  const broken = (row?.found ?? []) as ([string, string] | null)[][]
  return broken
    .flat()
    .filter(each => each !== null)
    .map(([code, text]) => ({ code, text }))
}

async function stillBroken(
  database: Queryable,
  text: string,
  found: Finding[],
  caughtUp: Read['caughtUp'],
): Promise<Finding[]> {
  if (found.length === 0 || !caughtUp) return found
  await caughtUp()
  const [row] = await database.query<Record<string, unknown>>(text)
  const again = new Set(findingsOf(row).map(each => each.text))
  return found.filter(each => again.has(each.text))
}

/** The violations that one check has found so far: their number, and the texts of the first ones. */
export type Found = { total: number; named: string[] }

/** How many violations of a check are listed. Further ones are only counted, because nobody reads more. */
const maxNamed = 10

/** Adds violations to `found`, which has the violations found so far by the code of their check. */
export function addFindings(found: Record<string, Found>, findings: readonly Finding[]): void {
  for (const { code, text } of findings) {
    const ofCheck = found[code] ?? { total: 0, named: [] }
    found[code] = ofCheck
    if (ofCheck.named.includes(text)) continue
    ofCheck.total++
    if (ofCheck.named.length < maxNamed) ofCheck.named.push(text)
  }
}

/** Says what a check found: the texts of the first violations, and how many more there are. */
export const findingsText = ({ total, named }: Found): string =>
  [...named, ...(total > named.length ? [`and ${total - named.length} more`] : [])].join('; ')

export function addCount(counts: Counts, code: string, name: string, value: number): void {
  const ofCheck = counts[code] ?? {}
  ofCheck[name] = (ofCheck[name] ?? 0) + value
  counts[code] = ofCheck
}

/** Writes words as SQL literals for `in (...)`, without escaping, so the words must be trusted. */
export const listed = (words: readonly string[]): string => words.map(word => `'${word}'`).join(', ')
