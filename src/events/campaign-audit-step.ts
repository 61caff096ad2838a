/** The audit's statements about transitions of campaigns: they find those without their events. */

import { typeOfTransition } from '../campaigns/lifecycle/events.ts'
import { transitions } from '../campaigns/lifecycle/transitions.ts'
import type { Check, Read, Within } from '../db/check.ts'
import { shownInstant } from '../db/instants.ts'
import { numberedSince, numberedUpTo } from './audit-step.ts'
import type { NumberAllEvents } from './feed.ts'

export const campaignEventsCheck: Check = {
  code: 'feed-campaigns',
  name: 'every transition of a campaign is in the feeds',
  holds:
    'each stored transition has its event in the feed of the merchant and of each bank that it concerns; ' +
    'left out, because processes of 0.2 made them and write no events: {of02}',
  params: ['of02'],
}

/** SQL that maps a transition `h` to the type of its event. */
const typeText = `case h.subject || ' ' || h.trigger || ' ' || coalesce(h.from_state, '') || '>' || coalesce(h.to_state, '') ${transitions
  .map(one => `when '${one.subject} ${one.trigger} ${one.from ?? ''}>${one.to ?? ''}' then '${typeOfTransition(one)}'`)
  .join(' ')} end`

/**
 * Counts the transitions that `campaignEvents` leaves out. A process of 0.2 that serves during an upgrade makes them. It
 * writes no version into the history, and no events.
 */
export const campaignMovesOf02 = (within: Within): Read => ({
  of: 'campaign_history of 0.2',
  from: `campaign_history h
    where ${within('h.cashback_id')} and h.version is null and h.changes is null and h.at >= ${numberedSince}`,
  rules: [],
  counts: { [campaignEventsCheck.code]: { of02: 'count(*)' } },
})

/**
 * Finds transitions without their events. The event of each transition must be in the feed of the merchant and in feeds
 * of banks. If the transition concerns one bank, it must be in the feed of that bank. If it concerns the campaign, it
 * must be in the feeds of all banks that were invited at that version. `members` has, for each bank, the version that
 * invited it and the version that removed it. The rule looks for the event in the feed of each recipient, by its type,
 * time and bank. It reads the events of one campaign at a time. Reading a whole range of ids would also read the events
 * of very many orders, because their ids lie in the same range.
 *
 * @param numberAllEvents gives numbers to recorded events, because feeds show only events with numbers; left out for a
 *   database that must not be changed
 */
export const campaignEvents = (within: Within, numberAllEvents?: NumberAllEvents): Read => ({
  of: 'campaign_history',
  caughtUp: numberAllEvents,
  from: `(
      with moves as materialized (
        select h.*, c.merchant_id, ${typeText} as type from campaign_history h join campaigns c using (cashback_id)
        where ${within('h.cashback_id')} and ${within('c.cashback_id')} and h.version is not null and h.changes is null
          and h.at >= ${numberedSince} and h.at < ${numberedUpTo}
      ), members as materialized (
        select * from (
          select cashback_id, bank_id, from_state, coalesce(version, 0) as invited,
            lead(version) over (partition by cashback_id, bank_id order by history_id) as removed
          from campaign_history h where ${within('h.cashback_id')} and subject = 'bank' and changes is null
            and (from_state is null or to_state is null)
        ) as changes where from_state is null
      ), recipients as (
        select m.*, 'retailer' as account_type, m.merchant_id as account_id from moves m
        union all
        select m.*, 'bank', m.bank_id from moves m where m.bank_id is not null
        union all
        select m.*, 'bank', b.bank_id from moves m join members b using (cashback_id)
        where m.subject = 'campaign' and b.invited <= m.version and coalesce(m.version < b.removed, true)
      ), existing as materialized (
        select e.subject, e.account_type, e.account_id, e.type, body->'data'->>'updatedAt' as at, body->'data'->>'bankId' as bank_id
        from (
          select found.* from (select distinct cashback_id from moves) as moved cross join lateral (
            select subject, account_type, account_id, type, body::jsonb as body from events
            where subject = moved.cashback_id offset 0
          ) as found
        ) as e
      )
      select r.cashback_id, r.type, r.account_type, r.account_id, e.subject as found
      from recipients r left join existing e on e.subject = r.cashback_id and e.account_type = r.account_type
        and e.account_id = r.account_id and e.type = r.type and e.at = ${shownInstant('r.at')}
        and e.bank_id is not distinct from r.bank_id::text
    ) as expected`,
  rules: [
    {
      code: campaignEventsCheck.code,
      broken: 'found is null',
      text: `'the feed of ' || account_type || ' ' || account_id || ' lacks ' || type || ' of campaign ' || cashback_id`,
    },
  ],
})
