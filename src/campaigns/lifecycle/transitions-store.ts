/**
 * Writes every change of status. The campaign is locked (`locking-store.ts`), the lifecycle decides, and one statement
 * writes the new states, the history and the versions of the merchants' lists. The statement checks the starting states
 * of the decision again. Events, audit log entries and the banks' lists are written after it, in the same transaction.
 */

import type { Queryable, Statement } from '../../db/database.ts'
import { rowList } from '../../db/row-list.ts'
import { recordEntries } from '../../outbox/audit-entry-writing.ts'
import { recordEvents } from '../../outbox/event-writing.ts'
import { updatedForBank } from '../seen-by-bank-store.ts'
import type { Actor } from './actor.ts'
import { type Decided, type Outcome, outcomeOf } from './decided.ts'
import { entriesOf } from './entries.ts'
import { eventsOf } from './events.ts'
import { type CountChange, countChanges, isMerchantsTurn } from './kept-for-lists.ts'
import { type LockedCampaign, lockCampaign } from './locking-store.ts'

const movedRows = rowList(1, {
  cashbackId: 'uuid',
  fromStatus: 'text',
  toStatus: 'text',
  version: 'bigint',
  at: 'timestamptz',
  hasNewTerms: 'boolean',
  awaitsMerchant: 'boolean',
})
const stepRows = rowList(movedRows.next, {
  cashbackId: 'uuid',
  subject: 'text',
  bankId: 'uuid',
  trigger: 'text',
  fromState: 'text',
  toState: 'text',
  changes: 'jsonb',
  version: 'bigint',
  toStatus: 'text',
  at: 'timestamptz',
})
const followerRows = rowList(stepRows.next, { cashbackId: 'uuid', bankId: 'uuid', toStatus: 'text' })
const listRows = rowList(followerRows.next, { merchantId: 'uuid', isRearranged: 'boolean' })
/** One row: who made the changes. */
const actorRows = rowList(listRows.next, { type: 'text', id: 'uuid', subject: 'text', role: 'text', comment: 'text' })

/**
 * Writes decisions about campaigns. `moved` has one row for each decision. `steps` has the transitions of the decisions
 * and their notes (changes without a transition), in the order of the history. In a note, `from_state` and `to_state`
 * are equal. A note about a bank gives the bank's part a new version. An existing row is changed only if its state is
 * still `from_status` or `from_state`. The statement returns how many rows were changed, so that `writeRows` notices
 * when a row was left unchanged.
 */
const writeStatement: Statement = {
  name: 'campaigns.write-moves',
  text: `
    with moved as (select * from ${movedRows.from('moved')}
    ), steps as (select * from ${stepRows.from('steps', 'n')}
    ), campaigns_moved as (
      update campaigns c
      set status = m.to_status, version = m.version, updated_at = m.at, awaits_merchant = m.awaits_merchant,
          terms_version = case when m.has_new_terms then m.version else c.terms_version end,
          compensation_received_at = case when m.to_status = 'compensationReceived' and m.from_status <> m.to_status
            then m.at else c.compensation_received_at end
      from moved m where c.cashback_id = m.cashback_id and c.status = m.from_status and c.version = m.version - 1
      returning c.cashback_id
    ), banks_invited as (
      insert into campaign_banks
        (cashback_id, bank_id, status, created_at, version, changed_at, campaign_status, date_from, date_to, name, percentage)
      select s.cashback_id, s.bank_id, s.to_state, c.created_at, s.version, s.at, s.to_status, c.date_from, c.date_to, c.name, c.percentage
      from steps s join campaigns c using (cashback_id) where s.subject = 'bank' and s.from_state is null
      returning cashback_id
    ), banks_removed as (
      delete from campaign_banks b using steps s
      where s.subject = 'bank' and s.to_state is null
        and b.cashback_id = s.cashback_id and b.bank_id = s.bank_id and b.status = s.from_state
      returning b.cashback_id
    ), banks_moved as (
      update campaign_banks b set status = s.to_state, version = s.version, changed_at = s.at, campaign_status = s.to_status from steps s
      where s.subject = 'bank' and s.from_state is not null and s.to_state is not null
        and b.cashback_id = s.cashback_id and b.bank_id = s.bank_id and b.status = s.from_state
      returning b.cashback_id
    ), stages_moved as (
      update campaign_banks b set reporting_stage = s.to_state, version = s.version, changed_at = s.at, campaign_status = s.to_status from steps s
      where s.subject = 'reporting'
        and b.cashback_id = s.cashback_id and b.bank_id = s.bank_id and b.reporting_stage is not distinct from s.from_state
      returning b.cashback_id
    ), others_follow as (
      update campaign_banks b set campaign_status = f.to_status
      from ${followerRows.from('f')}
      where b.cashback_id = f.cashback_id and b.bank_id = f.bank_id
    ), history_written as (
      insert into campaign_history
        (cashback_id, version, at, actor_type, actor_id, actor_subject, actor_role, subject, bank_id, trigger, from_state, to_state,
          changes, comment)
      select s.cashback_id, s.version, s.at, a.type, a.id, a.subject, a.role, s.subject, s.bank_id, s.trigger, s.from_state, s.to_state,
        s.changes, a.comment
      from steps s cross join ${actorRows.from('a')} order by s.n
    ), merchant_lists_changed as (
      insert into merchant_lists (merchant_id, arranged, touched)
      select merchant_id, bool_or(is_rearranged)::int, 1
      from ${listRows.from('decided')} group by merchant_id order by merchant_id
      on conflict (merchant_id) do update
      set arranged = merchant_lists.arranged + excluded.arranged, touched = merchant_lists.touched + 1
    )
    select (select count(*)::int from campaigns_moved) as campaigns,
      (select count(*) from banks_invited)::int + (select count(*) from banks_removed)::int
        + (select count(*) from banks_moved)::int + (select count(*) from stages_moved)::int as banks`,
}

const countRows = rowList(3, { partyId: 'uuid', status: 'text', bankStatus: 'text', by: 'bigint' })

/**
 * Gives the banks' lists new versions and changes the counts of campaigns. The main `insert` locks the lists of these
 * banks. PostgreSQL runs the `with` query `counted` after it, because nothing reads `counted`. The merchants' lists are
 * locked already. So no other transaction changes the same counts at the same time.
 */
const bankListsStatement: Statement = {
  name: 'campaigns.news',
  text: `
    with counted as (
      insert into campaign_counts (party_id, campaign_status, bank_status, campaigns)
      select * from ${countRows.from('changes')} order by 1, 2, 3
      on conflict (party_id, campaign_status, bank_status) do update set campaigns = campaign_counts.campaigns + excluded.campaigns
    )
    insert into bank_lists (bank_id, version)
    select bank_id, 1 from (
      select bank_id from campaign_banks where cashback_id = any($1) union select unnest($2::uuid[])
    ) concerned order by bank_id
    on conflict (bank_id) do update set version = bank_lists.version + 1`,
}

/**
 * Changes a bank's segment without a decision, such as the removal of a customer. Also raises the campaign's version
 * and the `updatedAt` that the bank gets, so that cached responses about the campaign are no longer used. The campaign
 * is locked first. The lists of the merchant and of the bank are locked only after the change: it may take seconds, and
 * all their other campaigns need these lists.
 *
 * @param change changes the segment
 */
export async function changeSegment(
  transaction: Queryable,
  params: { cashbackId: string; bankId: string; now: Date },
  change: () => Promise<void>,
): Promise<void> {
  const { cashbackId, bankId, now } = params
  await lockCampaign(transaction, cashbackId)
  await change()
  await transaction.execute('update campaigns set version = version + 1 where cashback_id = $1', [cashbackId])
  await transaction.execute(
    `update campaign_banks b set changed_at = greatest($3, ${updatedForBank('b.changed_at')} + interval '1 millisecond')
     from campaigns c where c.cashback_id = b.cashback_id and b.cashback_id = $1 and b.bank_id = $2`,
    [cashbackId, bankId, now],
  )
  await transaction.execute(
    `insert into merchant_lists (merchant_id, arranged, touched) select merchant_id, 0, 1 from campaigns where cashback_id = $1
     on conflict (merchant_id) do update set touched = merchant_lists.touched + 1`,
    [cashbackId],
  )
  await raiseBankLists(transaction, { cashbackIds: [], bankIds: [bankId], counts: [] })
}

/**
 * Writes decisions about campaigns that this transaction has locked. Every decision, even one without a transition,
 * gives the campaign a new version and `updatedAt`. Call it for every change, even if only fields change. Call it last,
 * because it locks the banks' lists.
 *
 * @returns the campaigns in their new state
 */
export async function writeDecisions(
  transaction: Queryable,
  decided: readonly Decided[],
  params: { actor: Actor; now: Date; comment?: string | null },
): Promise<LockedCampaign[]> {
  const outcomes = decided.map(one => outcomeOf(one, params.now))
  await writeRows(transaction, outcomes, params)
  await announce(transaction, outcomes, params.actor.origin)
  return outcomes.map(({ after }) => after)
}

/**
 * Writes the new states and the history, in one statement.
 *
 * @throws Error when a campaign or a bank was not in the state on which its decision was based
 */
async function writeRows(
  transaction: Queryable,
  outcomes: readonly Outcome[],
  { actor, comment = null }: { actor: Actor; comment?: string | null },
): Promise<void> {
  const steps = outcomes.flatMap(one => one.steps)
  const [row] = await transaction.query<{ campaigns: number; banks: number }>(writeStatement, [
    ...movedRows.values(
      outcomes.map(({ campaign, after, hasNewTerms }) => ({
        cashbackId: campaign.cashbackId,
        fromStatus: campaign.status,
        toStatus: after.status,
        version: after.version,
        at: after.updatedAt,
        hasNewTerms,
        awaitsMerchant: isMerchantsTurn(after),
      })),
    ),
    ...stepRows.values(
      steps.map(step => ({
        ...step,
        fromState: step.from,
        toState: step.to,
        changes: step.changes && JSON.stringify(step.changes),
      })),
    ),
    ...followerRows.values(outcomes.flatMap(({ followers }) => followers)),
    ...listRows.values(
      outcomes.map(({ campaign, isRearranged }) => ({ merchantId: campaign.merchantId, isRearranged })),
    ),
    ...actorRows.values([{ ...actor, comment }]),
  ])
  const bankSteps = steps.filter(({ subject }) => subject !== 'campaign')
  if (row?.campaigns !== outcomes.length || row.banks !== bankSteps.length)
    throw new Error('A decision was made about a state that is not there: the campaign was not locked')
}

/**
 * Writes events, entries of the audit log, and the banks' lists. Call it last in the transaction, because it locks those
 * lists.
 */
async function announce(transaction: Queryable, outcomes: readonly Outcome[], origin: Actor['origin']): Promise<void> {
  await recordEvents(
    transaction,
    outcomes.flatMap(one => eventsOf(one, one.after)),
  )
  await recordEntries(
    transaction,
    origin,
    outcomes.flatMap(one => entriesOf(one, origin)),
  )
  await raiseBankLists(transaction, {
    cashbackIds: outcomes.filter(({ isShared }) => isShared).map(({ campaign }) => campaign.cashbackId),
    bankIds: outcomes.flatMap(({ steps }) =>
      steps.flatMap(({ subject, bankId }) => (subject === 'campaign' || bankId === null ? [] : [bankId])),
    ),
    counts: countChanges(
      outcomes.map(({ campaign, decision, after }) => ({ before: campaign, changes: decision.changes, after })),
    ),
  })
}

/**
 * Gives a new version to the lists of all banks of the campaigns `cashbackIds`, and of the banks `bankIds`. Other banks
 * do not see the change, so the version of their lists must not change. Call it last in a transaction, because it locks
 * the lists.
 */
async function raiseBankLists(
  transaction: Queryable,
  changed: { cashbackIds: readonly string[]; bankIds: readonly string[]; counts: readonly CountChange[] },
): Promise<void> {
  const { cashbackIds, bankIds, counts } = changed
  await transaction.execute(bankListsStatement, [cashbackIds, bankIds, ...countRows.values(counts)])
}
