/**
 * Checkpoints: signed statements of how far the log reaches (contract/audit-log.md, "Checkpoints"). A copy outside the
 * database reveals every later change of the entries that it covers, even if somebody with full access to the database
 * made the change.
 */
import { platformAccountId } from '../caller.ts'
import { type Clock, realNow } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { type RecordedEvent, recordEvents } from '../outbox/event-writing.ts'
import { clockOrigin, type Origin } from '../outbox/origin.ts'
import { appendToAnchorFile } from './anchor-file.ts'
import { firstHead, type Head } from './chain.ts'
import { chainAllEntries } from './chain-store.ts'
import { findSigner } from './keys.ts'
import { type Checkpoint, writeNote } from './note.ts'

export type CheckpointDeps = {
  database: Database
  clock: Clock
  masterKeys: readonly Buffer[]
  /** The file to which the signed text (the note) of each checkpoint is appended; null: there is none. */
  anchorFile: string | null
  /** Called after a note was appended. */
  onAnchored?(): void
  /** Called after a note could not be appended. */
  onAnchorFailed?(): void
  logger: Logger
}

/**
 * `isAnchored` is true if the checkpoint's signed text was appended to AUDIT_ANCHOR_FILE, false if this failed, and
 * null if this setting is empty.
 */
type MadeCheckpoint = Checkpoint & { isAnchored: boolean | null }

const checkpointLock = 7_365_036

/**
 * Makes the hourly checkpoint unless it already exists. It first adds all waiting entries to the chain, however many
 * wait, so that the checkpoint covers them.
 */
export async function makeHourlyCheckpoint(deps: CheckpointDeps): Promise<void> {
  if (!(await isDue(deps.database))) return
  await chainAllEntries(deps.database)
  await make(deps, clockOrigin, { isHourly: true })
}

/** Makes a checkpoint. It adds the waiting entries to the chain first, so that the checkpoint covers them too. */
export async function makeCheckpoint(deps: CheckpointDeps, origin: Origin = clockOrigin): Promise<MadeCheckpoint> {
  await chainAllEntries(deps.database)
  const checkpoint = await make(deps, origin, { isHourly: false })
  if (checkpoint === null) throw new Error('A requested checkpoint is always made')
  return checkpoint
}

/** Makes a checkpoint. @returns null when it is the hourly one and is not due */
async function make(
  { database, clock, masterKeys, anchorFile, onAnchored, onAnchorFailed, logger }: CheckpointDeps,
  origin: Origin,
  { isHourly }: { isHourly: boolean },
): Promise<MadeCheckpoint | null> {
  if (isHourly && !(await isDue(database))) return null
  const signer = await findSigner(database, masterKeys)
  const made = await database.transaction(async transaction => {
    await transaction.execute('select pg_advisory_xact_lock($1)', [checkpointLock])
    // Another process may have made the hourly checkpoint while this process waited.
    if (isHourly && !(await isDue(transaction))) return null
    const checkpoint = { ...(await findHead(transaction)), at: realNow() }
    const note = writeNote(signer.name, checkpoint, signer.key)
    if (isHourly && !(await isAnnouncedToday(transaction)))
      await recordEvents(transaction, await eventsOf(transaction, checkpoint, clock.offsetMs()))
    await transaction.execute(
      `insert into audit_anchors (kind, at, seq, hash, note, is_hourly) values ('checkpoint', $1, $2, $3, $4, $5)`,
      [checkpoint.at, checkpoint.seq, checkpoint.hash, note, isHourly],
    )
    const change = { hash: [null, checkpoint.hash.toString('hex')] } as const
    const object = { type: 'checkpoint', id: String(checkpoint.seq) }
    await recordEntries(transaction, origin, [{ action: 'checkpoint.made', object, change }])
    return { checkpoint, note }
  })
  if (made === null) return null
  logger.info({ note: made.note }, 'a checkpoint of the audit log')
  const isAnchored = anchorFile === null ? null : await appendNote(anchorFile, made.note, logger)
  if (isAnchored) onAnchored?.()
  else if (isAnchored === false) onAnchorFailed?.()
  return { ...made.checkpoint, isAnchored }
}

/**
 * Appends the signed text (the note) of a checkpoint to a file. A line feed is written before it, so that it begins on
 * a new line even if a full disk cut off the previous note. An error here is only logged, because the checkpoint is
 * already in the database and in the process's log.
 *
 * @returns whether it was appended
 */
async function appendNote(file: string, note: string, logger: Logger): Promise<boolean> {
  try {
    await appendToAnchorFile(file, `\n${note}`)
    return true
  } catch (error) {
    logger.error({ err: error }, 'a checkpoint could not be appended to AUDIT_ANCHOR_FILE')
    return false
  }
}

async function findHead(database: Queryable): Promise<Head> {
  const [head] = await database.query<Head>(
    `(select seq, hash from audit_log order by seq desc limit 1)
     union all (select seq, hash from audit_anchors where kind = 'removed' and account_type is null order by anchor_id desc limit 1)
     order by seq desc limit 1`,
  )
  return head ?? firstHead
}

/** Whether a new hour has begun since the last checkpoint, or since the first entry. */
async function isDue(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ due: boolean }>(
    `select coalesce(
       (select at from audit_anchors where kind = 'checkpoint' and is_hourly order by anchor_id desc limit 1),
       (select at from audit_log order by seq limit 1)
     ) < date_trunc('hour', now()) as due`,
  )
  return row?.due === true
}

/** Whether an hourly checkpoint was made since 00:00 UTC. Only the first one of each day gets an event. */
async function isAnnouncedToday(transaction: Queryable): Promise<boolean> {
  const [row] = await transaction.query<{ announced: boolean }>(
    `select exists (select from audit_anchors where kind = 'checkpoint' and is_hourly and at >= date_trunc('day', now(), 'UTC')) as announced`,
  )
  return row?.announced === true
}

type AccountHead = { type: 'bank' | 'merchant' | 'platform'; id: string; seq: number; hash: Buffer }

/**
 * Makes one event for each account that has entries. It names the head of the whole log and of the account's chain.
 *
 * @param offsetMs how far the platform's clock is ahead of real time. Events have the platform's time, checkpoints real
 *   time
 */
async function eventsOf(
  transaction: Queryable,
  { at, hash, seq }: Checkpoint,
  offsetMs: number,
): Promise<RecordedEvent[]> {
  const heads = await transaction.query<AccountHead>(
    `select type, id, head.seq, head.hash from (
       select 'bank' as type, bank_id as id from banks union all select 'merchant', merchant_id from merchants
       union all select 'platform', $2::uuid
     ) as accounts cross join lateral (
       select account_seq as seq, account_hash as hash from audit_log
       where account_type = type and account_id = id and audit_log.seq <= $1 order by audit_log.seq desc limit 1
     ) as head`,
    [seq, platformAccountId],
  )
  return heads.map(head => ({
    type: 'audit.checkpoint',
    at: new Date(at.getTime() + offsetMs),
    ...recipientOf(head),
    data: {
      at: at.toISOString(),
      hash: hash.toString('hex'),
      accountSeq: head.seq,
      accountHash: head.hash.toString('hex'),
    },
  }))
}

function recipientOf({ type, id }: AccountHead): Pick<RecordedEvent, 'banks' | 'merchants' | 'platform'> {
  if (type === 'bank') return { banks: [id] }
  return type === 'merchant' ? { merchants: [id] } : { platform: true }
}
