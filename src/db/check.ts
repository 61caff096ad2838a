/**
 * Rules over what the database holds, checked piece by piece. Each piece covers a range of keys and is one statement or a few, so it
 * holds a snapshot for some milliseconds only. Others write meanwhile, so a rule over several tables must be decided within one
 * statement, for one object at a time.
 */
import pg from 'pg'
import type { Queryable } from './database.ts'

export type Check = {
  /** For programs: clients name the check in their own language by it. It never changes. */
  code: string
  name: string
  /** What to say when nothing breaks it. `{name}` stands for a count. */
  holds: string
  /** The counts that programs get beside `holds`. */
  params?: readonly string[]
}

/** `params`: the figures in `detail`, when the check holds and has any. */
export type CheckResult = { code: string; name: string; ok: boolean; detail: string; params?: Record<string, number> }

/** What breaks a check, in plain words and without secrets. */
export type Finding = { code: string; text: string }

/** Counts of a check by name; those of all pieces are added up. */
export type Counts = Record<string, Record<string, number>>

export type Piece = {
  findings: Finding[]
  counts: Counts
  /** About how many rows it covered. */
  rows: number
  /** The key that the next piece begins after, as text; null: this was the last piece. */
  reached: string[] | null
}

/** A part of the audit that is done piece by piece. */
export type Step = {
  /** Says where a broken-off audit stands, so it is unique. */
  name: string
  /** Its size stands for the amount of work. */
  table: string
  /** @param after what the piece before has reached; null: the first piece */
  next(database: Queryable, after: string[] | null): Promise<Piece>
}

export type Rule = {
  code: string
  /** SQL condition; null counts as not broken. */
  broken: string
  /** SQL text, evaluated for broken rows only. */
  text: string
}

/** SQL condition that the columns, which hold the walk's key, lie in the piece's range. */
export type Within = (...columns: string[]) => string

export type Walk = {
  name: string
  table: string
  /** The columns of an index in its order, with their types. Ranges have no gaps, so rows of other tables with unknown keys are met, too. */
  key: readonly (readonly [column: string, type: string])[]
  /** Rows of the table in a piece. */
  rows: number
  /** SQL that gives the last key of the piece as one row of texts; no row: the piece is the last. Default: by the index. */
  bound?: (after: string[] | null) => string
  /** SQL that gives a row when nothing needs to be read, because the database itself guarantees the rules. */
  guaranteedBy?: string
  /** The statements of a piece. */
  reads: (within: Within) => readonly Read[]
}

export type Read = {
  /** The table whose rows are checked; the list of running statements shows it. */
  of: string
  /** What comes after `from`. */
  from: string
  rules: readonly Rule[]
  /** SQL aggregates by check and name. */
  counts?: Record<string, Record<string, string>>
}

/** A step that walks over a table in the order of a key. */
export function walkOver(walk: Walk): Step {
  return {
    name: walk.name,
    table: walk.table,
    async next(database, after) {
      if (walk.guaranteedBy && !after && (await database.query(walk.guaranteedBy)).length > 0)
        return { findings: [], counts: {}, rows: 0, reached: null }
      const [bound] = await database.query<Record<string, string>>((walk.bound ?? boundOf(walk))(after))
      const reached = bound ? Object.values(bound) : null
      const piece: Piece = { findings: [], counts: {}, rows: walk.rows, reached }
      for (const read of walk.reads(rangeOf(walk.key, after, reached))) await take(database, read, piece)
      return piece
    },
  }
}

type Key = Walk['key']

const listOf = (columns: readonly string[]): string => (columns.length === 1 ? String(columns) : `(${columns})`)
const valuesOf = (key: Key, values: string[]): string =>
  listOf(key.map(([, type], index) => `${pg.escapeLiteral(values[index] ?? '')}::${type}`))

const boundOf =
  ({ table, key, rows }: Walk) =>
  (after: string[] | null): string => {
    const columns = key.map(([column]) => column)
    // Without names of their own the texts would be what `order by` means.
    const texts = columns.map((column, index) => `${column}::text as key${index}`)
    return `select ${texts} from ${table} where ${rangeOf(key, after, null)(...columns)}
      order by ${columns} offset ${rows - 1} limit 1`
  }

const rangeOf =
  (key: Key, after: string[] | null, upTo: string[] | null): Within =>
  (...columns) =>
    [
      ...(after ? [`${listOf(columns)} > ${valuesOf(key, after)}`] : []),
      ...(upTo ? [`${listOf(columns)} <= ${valuesOf(key, upTo)}`] : []),
      // Rows without a key are in no piece; this also lets the first and the last one use the index.
      ...(after || upTo ? [] : columns.map(column => `${column} is not null`)),
    ].join(' and ')

async function take(database: Queryable, { of, from, rules, counts = {} }: Read, piece: Piece): Promise<void> {
  const names = Object.entries(counts).flatMap(([code, byName]) =>
    Object.entries(byName).map(([name, sql]) => ({ code, name, sql })),
  )
  const found = rules.map(
    ({ code, broken, text }) => `case when ${broken} then jsonb_build_array('${code}', ${text}) end`,
  )
  const [row] = await database.query<Record<string, unknown>>(
    `/* audit of ${of} */ select ${names.map(({ sql }, index) => `${sql} as count${index}, `).join('')}
       jsonb_agg(jsonb_build_array(${found.join(', ') || 'null'})) filter (where ${rules.map(({ broken }) => `(${broken})`).join(' or ') || 'false'}) as found
     from ${from}`,
  )
  for (const [index, { code, name }] of names.entries())
    addCount(piece.counts, code, name, Number(row?.[`count${index}`]))
  const broken = (row?.found ?? []) as ([string, string] | null)[][]
  for (const [code, text] of broken.flat().filter(each => each !== null)) piece.findings.push({ code, text })
}

export function addCount(counts: Counts, code: string, name: string, value: number): void {
  const ofCheck = counts[code] ?? {}
  ofCheck[name] = (ofCheck[name] ?? 0) + value
  counts[code] = ofCheck
}

/** Words of ours as SQL literals, for `in (...)`. */
export const listed = (words: readonly string[]): string => words.map(word => `'${word}'`).join(', ')
