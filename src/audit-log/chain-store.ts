/**
 * Numbers the entries in the outbox and appends them to the chains. Only one process does this at a time, and no change
 * waits for it. Entries and the new position in the outbox are written in one transaction, so a killed process leaves
 * both or neither.
 */
import { platformAccountId } from '../caller.ts'
import type { Database, Queryable } from '../db/database.ts'
import { rowList } from '../db/row-list.ts'
import { DomainError } from '../errors.ts'
import type { Entry } from '../outbox/audit-entry.ts'
import type { RecordedEntry } from '../outbox/audit-entry-writing.ts'
import { isFor } from '../outbox/position.ts'
import type { RecordedAccount } from '../outbox/rows.ts'
import { type OrderedPiece, tickInOrder } from '../outbox/tick-store.ts'
import { accountHashOf, firstHead, type Head, hashOf } from './chain.ts'

/** Entries per run. While they are hashed, this process answers no request. */
const pieceRows = 250

type Waiting = { account: RecordedAccount; data: RecordedEntry }
type Link = Waiting & { seq: number; accountSeq: number; text: string; accountHash: Buffer; hash: Buffer }
type Heads = { all: Head; ofAccount: Map<string, Head> }

/**
 * Appends some of the waiting entries to the chains.
 *
 * @param waits whether to wait while another process appends entries
 * @returns whether there may be more; null: another process is doing it
 */
export const chainEntries = (database: Database, waits: boolean): Promise<boolean | null> =>
  tickInOrder(database, 'audit-log', { rows: pieceRows, waits, none: false }, async (transaction, piece) => {
    const taken = await take(transaction, piece)
    if (taken.waiting.length > 0)
      await insert(transaction, link(taken.waiting, await findHeads(transaction, taken.waiting)))
    return taken.mayBeMore
  })

/** Appends all entries to the chains that were recorded before the call, however many wait. */
export async function chainAllEntries(database: Database): Promise<void> {
  while (await chainEntries(database, true));
}

/**
 * Appends all waiting entries to the chains before the log is read, because no worker may be running. A database that
 * takes no writes can still be read, so this is no error.
 *
 * @returns how many entries could not be appended, so that they are missing in the log
 */
export async function chainBeforeRead(database: Database): Promise<number> {
  try {
    await chainAllEntries(database)
    return 0
  } catch (error) {
    if (error instanceof DomainError && error.code === 'unavailable') return countUnchained(database)
    throw error
  }
}

/** Counts the recorded entries that are not in the chains yet. */
async function countUnchained(database: Queryable): Promise<number> {
  const [row] = await database.query<{ entries: number }>(`
    select count(*)::int as entries
    from outbox cross join (select * from event_ticks where consumer = 'audit-log' order by tick_id desc limit 1) as position
    where ${isFor('audit-log')} and not pg_visible_in_snapshot(xid, snapshot)
      and (towards is null or outbox_id > reached or not pg_visible_in_snapshot(xid, towards))`)
  return row?.entries ?? 0
}

type Row = { mayBeMore: boolean; type: RecordedAccount['type'] | null; id: string | null; data: RecordedEntry }

/**
 * Takes the next audit entries of the outbox. `taken` always has one row, which says whether there may be more. The left
 * join keeps it even when there is no entry.
 */
async function take(
  transaction: Queryable,
  { name, parts, values }: OrderedPiece,
): Promise<{ waiting: Waiting[]; mayBeMore: boolean }> {
  const text = `
    with ${parts}
    select may_be_more as "mayBeMore", account_type as type, account as id, data
    from taken left join seen on true order by outbox_id`
  const rows = await transaction.query<Row>({ name: `audit-log.take-${name}`, text }, values)
  const waiting = rows.flatMap(({ type, id, data }) =>
    type === null ? [] : [{ account: { type, id } as RecordedAccount, data }],
  )
  return { waiting, mayBeMore: rows[0]?.mayBeMore === true }
}

const keyOf = ({ type, id }: RecordedAccount): string => `${type} ${id ?? platformAccountId}`

/**
 * The heads (number and hash of the last entry) of the whole log and of the chains of these accounts. If all entries of
 * a chain were removed, its head comes from the record of the removal.
 */
async function findHeads(transaction: Queryable, waiting: readonly Waiting[]): Promise<Heads> {
  const [all] = await transaction.query<Head>(
    `(select seq, hash from audit_log order by seq desc limit 1)
     union all (select seq, hash from audit_anchors where kind = 'removed' and account_type is null order by anchor_id desc limit 1)
     order by seq desc limit 1`,
  )
  const accounts = [...new Map(waiting.map(({ account }) => [keyOf(account), account])).values()]
  const rows = await transaction.query<Head & { type: RecordedAccount['type']; id: string }>(
    `select type, id, head.seq, head.hash
     from unnest($1::text[], $2::uuid[]) as accounts (type, id) cross join lateral (
       (select account_seq as seq, account_hash as hash from audit_log
        where account_type = type and account_id = id order by account_seq desc limit 1)
       union all
       (select seq, hash from audit_anchors
        where kind = 'removed' and account_type = type and account_id = id order by seq desc limit 1)
       order by seq desc limit 1
     ) as head`,
    [accounts.map(({ type }) => type), accounts.map(({ id }) => id ?? platformAccountId)],
  )
  return {
    all: all ?? firstHead,
    ofAccount: new Map(rows.map(({ type, id, seq, hash }) => [`${type} ${id}`, { seq, hash }])),
  }
}

function link(waiting: readonly Waiting[], heads: Heads): Link[] {
  let head = heads.all
  return waiting.map(({ account, data }) => {
    const before = heads.ofAccount.get(keyOf(account)) ?? firstHead
    const accountSeq = before.seq + 1
    const text = JSON.stringify(entryOf(accountSeq, account, data))
    const accountHash = accountHashOf(before.hash, text)
    const seq = head.seq + 1
    head = { seq, hash: hashOf(head.hash, seq, accountHash) }
    heads.ofAccount.set(keyOf(account), { seq: accountSeq, hash: accountHash })
    return { account, data, seq, accountSeq, text, accountHash, hash: head.hash }
  })
}

/** Puts the fields in the order that the contract defines. */
function entryOf(accountSeq: number, account: RecordedAccount, data: RecordedEntry): Entry {
  const { at, actor, via, action, object, outcome, change, requestId, address } = data
  const [by, on] = [
    { type: actor.type, id: actor.id },
    { type: object.type, id: object.id },
  ]
  return { accountSeq, at, account, actor: by, via, action, object: on, outcome, change, requestId, address }
}

const entryRows = rowList(1, {
  seq: 'bigint',
  accountType: 'text',
  accountId: 'uuid',
  accountSeq: 'bigint',
  at: 'timestamptz',
  entry: 'text',
  accountHash: 'bytea',
  hash: 'bytea',
  action: 'text',
  actorId: 'text',
  objectType: 'text',
  objectId: 'text',
})

async function insert(transaction: Queryable, links: readonly Link[]): Promise<void> {
  await transaction.execute(
    {
      name: 'audit-log.insert',
      text: `
        insert into audit_log (seq, account_type, account_id, account_seq, at, entry, account_hash, hash, action, actor_id, object_type, object_id)
        select * from ${entryRows.from('entries')}`,
    },
    entryRows.values(
      links.map(({ account, data, text, ...numbers }) => ({
        ...numbers,
        accountType: account.type,
        accountId: account.id ?? platformAccountId,
        at: data.at,
        entry: text,
        action: data.action,
        actorId: data.actor.id,
        objectType: data.object.type,
        objectId: data.object.id,
      })),
    ),
  )
}
