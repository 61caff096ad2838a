/**
 * Reads the log in the order of its numbers, for exports and checks. Reads page by page, because PostgreSQL cannot clean up deleted
 * rows while a long query runs. Also reads checkpoints and heads of chains, and removes old entries.
 */
import { type Account, platformAccountId } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import type { Span } from '../text/span.ts'
import type { Head } from './chain.ts'
import { accountIs, boundsOf, type LogAccount, type Put, where } from './read-store.ts'
import type { Line } from './verifier.ts'

const linesAtOnce = 1_000

export const logAccountOf = ({ type, id }: Account): NonNullable<LogAccount> => ({
  type: type === 'retailer' ? 'merchant' : type,
  id,
})

type Range = { first: number; last: number }

/**
 * The lowest and the highest number of the entries in a period. For one account these are the account's own numbers,
 * otherwise the numbers of the whole log. It is null when the period has no entries.
 */
async function findRange(database: Queryable, account: LogAccount, span: Span): Promise<Range | null> {
  const number = account ? 'account_seq' : 'seq'
  const values: unknown[] = []
  const put: Put = value => `$${values.push(value)}`
  const period = { ...span, account }
  const within = [...accountIs(period, put), ...boundsOf(period, number, put)]
  if (span.from) within.push(`at >= ${put(span.from)}`)
  if (span.until) within.push(`at < ${put(span.until)}`)
  const [row] = await database.query<{ first: number | null; last: number | null }>(
    `select min(${number}) as first, max(${number}) as last from audit_log ${where(within)}`,
    values,
  )
  return row?.first == null || row.last === null ? null : { first: row.first, last: row.last }
}

/**
 * The columns of `Line`. The last one, `columns`, joins the columns that repeat parts of the entry's text, as
 * `columnsOf` (`verifier.ts`) does. Its time has milliseconds, as in the entry. If somebody has added microseconds to
 * the stored time, they are shown, so that the check finds a difference.
 */
export const lineColumns = `seq, entry, account_hash as "accountHash", hash, concat_ws(' ', account_type,
  coalesce(nullif(account_id, '${platformAccountId}')::text, ''), account_seq,
  regexp_replace(to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '000$', '') || 'Z',
  coalesce(action, ''), coalesce(object_type, ''), coalesce(actor_id, ''), coalesce(object_id, '')) as columns`

type Row = Line & { seq: number; hash: Buffer; number: number }

/** All entries of a period, oldest first. */
export async function* readLines(database: Queryable, account: LogAccount, span: Span): AsyncGenerator<Row[]> {
  const range = await findRange(database, account, span)
  if (range === null) return
  const number = account ? 'account_seq' : 'seq'
  for (let after = range.first - 1; after < range.last; ) {
    const rows: Row[] = await database.query<Row>(
      `select ${number} as number, ${lineColumns} from audit_log
       where ${number} > $1 and ${number} <= $2 ${account ? 'and account_type = $3 and account_id = $4' : ''}
       order by ${number} limit ${linesAtOnce}`,
      [after, range.last, ...(account ? [account.type, account.id] : [])],
    )
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)?.number ?? range.last
  }
}

/**
 * The head (number and hash) of each chain before its first stored entry. If old entries were removed, this is the head
 * at the last removed entry; otherwise, the head of an empty chain. `ofAccount` has only chains from which entries were
 * removed.
 */
export async function findStart(database: Queryable): Promise<{ all: Head; ofAccount: Map<string, Head> }> {
  const rows = await database.query<Head & { type: string | null; id: string | null }>(
    `select distinct on (account_type, account_id) account_type as type, account_id as id, seq, hash
     from audit_anchors where kind = 'removed' order by account_type, account_id, seq desc`,
  )
  const headOf = ({ seq, hash }: Head): Head => ({ seq, hash })
  const all = rows.find(({ type }) => type === null)
  const accounts = rows.filter(({ type }) => type !== null)
  return {
    all: all ? headOf(all) : { seq: 0, hash: Buffer.alloc(32) },
    ofAccount: new Map(accounts.map(row => [`${row.type} ${row.id === platformAccountId ? '' : row.id}`, headOf(row)])),
  }
}

/** The stored checkpoints whose last entry has a number above `after`. */
export function findKeptNotes(
  database: Queryable,
  after: number,
): Promise<{ seq: number; at: Date; hash: Buffer; note: string }[]> {
  return database.query(`select seq, at, hash, note from audit_anchors where kind = 'checkpoint' and seq > $1`, [after])
}

export type KeptCheckpoint = { at: Date; seq: number; hash: Buffer; note: string }

/**
 * Checkpoints, newest first. @param page.before the time of a checkpoint; null: start with the newest. Not its id: that
 * counts removals of other accounts, too. No two have the same time, because a lock keeps them apart
 */
export function findCheckpoints(
  database: Queryable,
  { from, until }: Span,
  page: { before: Date | null; limit: number },
): Promise<KeptCheckpoint[]> {
  return database.query<KeptCheckpoint>(
    `select at, seq, hash, note from audit_anchors
     where kind = 'checkpoint' and ($1::timestamptz is null or at >= $1) and ($2::timestamptz is null or at < $2)
       and ($3::timestamptz is null or at < $3)
     order by at desc, anchor_id desc limit $4`,
    [from, until, page.before, page.limit],
  )
}

/**
 * The account's last entry (its own number and hash) up to each of the numbers `seqs` of the whole log, in the order of
 * `seqs`. It is null where the account had no entry yet.
 */
export async function findAccountHeads(
  database: Queryable,
  account: NonNullable<LogAccount>,
  seqs: readonly number[],
): Promise<(Head | null)[]> {
  const rows = await database.query<{ seq: number | null; hash: Buffer | null }>(
    `select head.seq, head.hash from unnest($3::bigint[]) with ordinality as asked (seq, n) left join lateral (
       select account_seq as seq, account_hash as hash from audit_log
       where account_type = $1 and account_id = $2 and audit_log.seq <= asked.seq order by audit_log.seq desc limit 1
     ) as head on true order by n`,
    [account.type, account.id, seqs],
  )
  return rows.map(({ seq, hash }) => (seq === null || hash === null ? null : { seq, hash }))
}

const removedAtOnce = 10_000

/** Removes some of the entries that are older than `years` years. @returns whether there may be more */
export async function removeOldEntries(database: Queryable, years: number): Promise<boolean> {
  const [row] = await database.query<{ removed: number }>(
    'select remove_old_audit_entries(now() - make_interval(years => $1), $2) as removed',
    [years, removedAtOnce],
  )
  return row?.removed === removedAtOnce
}
