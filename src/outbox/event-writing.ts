/**
 * Writes events to the outbox in the transaction of the change. The row holds the full JSON text of `data`, so that
 * the event shows the state at the time of the change. `events/sequence-store.ts` numbers the events later.
 */
import type { Queryable } from '../db/database.ts'
import { jsonInstant } from '../db/instants.ts'
import type { EventTypeName } from './event-types.ts'
import { eventKind } from './rows.ts'

export type RecordedEvent = {
  type: EventTypeName
  /** When the event happened, by the platform's clock, which a sandbox can move; null: now. */
  at: Date | null
  banks?: readonly string[]
  merchants?: readonly string[]
  platform?: boolean
  /** In the shape that the catalogue defines for the type. */
  data: object
}

/** SQL for the current time by the platform's clock: the database's time plus the shift of a sandbox. */
const rulesNow = `(now() + (select coalesce(max(offset_ms), 0) from sandbox_clock) * interval '1 millisecond')`

/**
 * Writes events in the given order. Call it after the statement that locks the subject of the events. Then the events
 * have the same order as the changes.
 */
export async function recordEvents(transaction: Queryable, events: readonly RecordedEvent[]): Promise<void> {
  if (events.length === 0) return
  await transaction.execute(
    {
      name: 'events.tell',
      text: `
        insert into outbox (kind, account_type, data)
        select '${eventKind}', 'platform', case when data ? 'at' then data
          else data || jsonb_build_object('at', instant_text(${rulesNow})) end
        from jsonb_array_elements($1::jsonb) with ordinality as listed (data, n) order by n`,
    },
    // The events are passed as one JSON text. In an array of texts, each quote would be escaped a second time.
    [JSON.stringify(events.map(rowOf))],
  )
}

const rowOf = ({ type, at, banks, merchants, platform, data }: RecordedEvent): object => ({
  type,
  ...(at && { at: at.toISOString() }),
  banks,
  merchants,
  platform,
  // The subject of an event about a campaign is the campaign's id, because the audit looks for the events of a
  // campaign.
  subject: (data as { cashbackId?: string }).cashbackId,
  text: JSON.stringify(data),
})

/** The recipients of an event, as SQL expressions on the columns of a row. */
type Recipients = { bank: string; merchant?: string; platform?: boolean }

/**
 * Returns the `insert` of a `with` query that records one event for each row of `params.from`.
 *
 * @param params.text SQL for the JSON text of `data`
 * @param params.at SQL for the instant when the event happened; left out: now
 */
export function recordingEvents(params: {
  type: EventTypeName
  from: string
  to: Recipients
  at?: string
  text: string
}): string {
  const { bank, merchant, platform = false } = params.to
  const list = (column: string) => `case when ${column} is not null then jsonb_build_array(${column}) end`
  return `
    insert into outbox (kind, account_type, data)
    select '${eventKind}', 'platform', jsonb_strip_nulls(jsonb_build_object('type', '${params.type}',
      'at', instant_text(${params.at ?? rulesNow}), 'banks', ${list(bank)}, 'merchants', ${merchant ? list(merchant) : 'null::jsonb'},
      'platform', ${platform}, 'text', ${params.text}))
    from ${params.from}`
}

const jsonText = (value: string): string => `coalesce(to_json(${value})::text, 'null')`
const jsonInstantOrNull = (value: string): string => `coalesce(${jsonInstant(value)}, 'null')`

/**
 * SQL for `reservedUntil` in events for banks' systems: null once the order is confirmed or cancelled. The portal
 * always shows it.
 */
const endOfReservation = (status: string): string =>
  `case when ${status} in ('confirmed', 'cancelled') then 'null' else ${jsonInstant('o.reserved_until')} end`

/**
 * SQL for the JSON text of an order, from `o` (orders), `t` (tariffs) and `m` (mobile operators). Codes and currencies
 * have no character that JSON escapes (text/text-rules.ts). @param status SQL for the status
 */
export const orderText = (status = 'o.status'): string => `
  '{"orderId":"' || o.order_id || '","externalId":' || ${jsonText('o.external_id')} || ',"operatorCode":"' || m.code
  || '","tariffCode":"' || t.code || '","status":"' || ${status} || '","price":"' || o.price
  || '","currency":"' || o.currency || '","createdAt":' || ${jsonInstant('o.created_at')}
  || ',"reservedUntil":' || ${endOfReservation(status)} || ',"confirmedAt":' || ${jsonInstantOrNull('o.confirmed_at')}
  || ',"cancelledAt":' || ${jsonInstantOrNull('o.cancelled_at')} || ',"paymentReference":' || ${jsonText('o.payment_reference')} || '}'`

/** The joins of `t` and `m`, which `orderText` needs in addition to `o`. */
export const orderTextJoins = `
  join tariffs t on t.tariff_id = o.tariff_id join mobile_operators m on m.mobile_operator_id = t.mobile_operator_id`
