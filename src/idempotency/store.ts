/** All SQL for the answers that are stored for an Idempotency-Key. */
import { createHash } from 'node:crypto'
import type { AccountType } from '../caller.ts'
import type { Queryable, Statement } from '../db/database.ts'

/** The scope of an Idempotency-Key. Two accounts may use the same key, and so may two operations. */
export type Scope = { accountType: AccountType; accountId: string; operation: string; key: string }
/** `fingerprint` and `body` are encrypted. */
export type KeptAnswer = {
  fingerprint: Buffer
  status: number
  body: Buffer
  location: string | null
  etag: string | null
}

const valuesOf = ({ accountType, accountId, operation, key }: Scope) => [accountType, accountId, operation, key]

/** The number of a scope's advisory lock. It is a text, because it may be too large for a JavaScript number. */
function lockOf(scope: Scope): string {
  return createHash('sha256')
    .update(JSON.stringify(valuesOf(scope)))
    .digest()
    .readBigInt64BE(0)
    .toString()
}

const lockStatement: Statement = {
  name: 'idempotency.lock',
  text: 'select pg_try_advisory_xact_lock($1::bigint) as taken',
}

/** Takes the lock of a key. @returns false while another request with the key is running, which holds the lock */
export async function tryLock(transaction: Queryable, scope: Scope): Promise<boolean> {
  const [row] = await transaction.query<{ taken: boolean }>(lockStatement, [lockOf(scope)])
  return row?.taken === true
}

const runningStatement: Statement = {
  name: 'idempotency.is-running',
  text: `
    select exists (
      select from pg_locks
      where locktype = 'advisory' and objsubid = 1 and granted and database = (select oid from pg_database where datname = current_database())
        and classid = (($1::bigint >> 32) & 4294967295)::oid and objid = ($1::bigint & 4294967295)::oid
    ) as running`,
}

/**
 * Whether a request with the key is running. The key's lock is not taken, but looked up in `pg_locks`, which shows the 64-bit
 * number of a lock in two halves (`classid` and `objid`).
 */
export async function isRunning(database: Queryable, scope: Scope): Promise<boolean> {
  const [row] = await database.query<{ running: boolean }>(runningStatement, [lockOf(scope)])
  return row?.running === true
}

const findStatement: Statement = {
  name: 'idempotency.find',
  text: `
    select fingerprint, status, body, location, etag from idempotency_answers
    where account_type = $1 and account_id = $2 and operation = $3 and key = $4 and created_at > now() - make_interval(hours => $5)`,
}

/** Finds the stored answer for a key. @returns null when the key is new, or the answer is older than `hours` */
export async function findAnswer(database: Queryable, scope: Scope, hours: number): Promise<KeptAnswer | null> {
  const [answer] = await database.query<KeptAnswer>(findStatement, [...valuesOf(scope), hours])
  return answer ?? null
}

const keepStatement: Statement = {
  name: 'idempotency.keep',
  text: `
    insert into idempotency_answers (account_type, account_id, operation, key, fingerprint, status, body, location, etag)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (account_type, account_id, operation, key) do update set fingerprint = excluded.fingerprint,
      status = excluded.status, body = excluded.body, location = excluded.location, etag = excluded.etag, created_at = excluded.created_at`,
}

/** Stores an answer and replaces an old one. The caller must hold the lock. */
export async function keepAnswer(transaction: Queryable, scope: Scope, answer: KeptAnswer): Promise<void> {
  const { fingerprint, status, body, location, etag } = answer
  await transaction.execute(keepStatement, [...valuesOf(scope), fingerprint, status, body, location, etag])
}

const forgottenAtOnce = 1_000

/** Deletes some answers that are older than `hours`. @returns whether there may be more */
export async function forgetAnswers(database: Queryable, hours: number): Promise<boolean> {
  const forgotten = await database.execute(
    `delete from idempotency_answers where ctid = any(array(
       select ctid from idempotency_answers where created_at <= now() - make_interval(hours => $1)
       order by created_at limit ${forgottenAtOnce} for update skip locked))`,
    [hours],
  )
  return forgotten === forgottenAtOnce
}

/** At most `limit` stored answers in the order of their scopes, beginning after the given scope. */
export function listAnswers(
  database: Queryable,
  after: Scope | null,
  limit: number,
): Promise<(Scope & { body: Buffer; fingerprint: Buffer })[]> {
  return database.query(
    `select account_type as "accountType", account_id as "accountId", operation, key, body, fingerprint
     from idempotency_answers
     where $1::text is null or (account_type, account_id, operation, key) > ($1, $2::uuid, $3, $4)
     order by account_type, account_id, operation, key limit $5`,
    [...(after ? valuesOf(after) : [null, null, null, null]), limit],
  )
}

/** Replaces the encrypted parts of an answer, if the encrypted body is still `before`. */
export async function replaceSealed(
  database: Queryable,
  scope: Scope,
  before: Buffer,
  { body, fingerprint }: { body: Buffer; fingerprint: Buffer },
): Promise<void> {
  await database.execute(
    `update idempotency_answers set body = $6, fingerprint = $7
     where account_type = $1 and account_id = $2 and operation = $3 and key = $4 and body = $5`,
    [...valuesOf(scope), before, body, fingerprint],
  )
}
