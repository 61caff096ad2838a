/**
 * How writers tell of events: in the transaction of the change, as a row of the outbox with the whole text of `data`, so that an event
 * tells the facts as of its change. `sequence-store.ts` numbers them later.
 */
import type { Queryable } from '../db/database.ts'
import type { EventTypeName } from './catalogue.ts'

/** The kind of their rows in the outbox. */
export const eventKind = 'event'

export type ToldEvent = {
  type: EventTypeName
  /** By the clock of the rules; null: now. */
  at: Date | null
  banks?: readonly string[]
  merchants?: readonly string[]
  platform?: boolean
  /** What the catalogue says for the type. */
  data: object
}

/** Now by the clock of the rules, in SQL. */
const rulesNow = `(now() + (select coalesce(max(offset_ms), 0) from sandbox_clock) * interval '1 millisecond')`

/** Tells of events in this order. To be called after what locks their subject, so that they stand in the order of its changes. */
export async function tellEvents(transaction: Queryable, events: readonly ToldEvent[]): Promise<void> {
  if (events.length === 0) return
  await transaction.execute(
    {
      name: 'events.tell',
      text: `
        insert into outbox (kind, account_type, data)
        select '${eventKind}', 'platform', case when data ? 'at' then data
          else data || jsonb_build_object('at', instant_text(${rulesNow})) end
        from unnest($1::jsonb[]) with ordinality as told (data, n) order by n`,
    },
    [events.map(rowOf)],
  )
}

function rowOf({ type, at, banks, merchants, platform, data }: ToldEvent): string {
  const text = JSON.stringify(data)
  return JSON.stringify({ type, ...(at && { at: at.toISOString() }), banks, merchants, platform, text })
}

/** Whose an event is, as SQL of the columns of a row. */
type Recipients = { bank: string; merchant?: string; platform?: boolean }

/**
 * As `tellEvents`, a part of a statement's `with` for the rows of another part.
 *
 * @param given.text SQL of the text of `data`
 * @param given.at SQL of the instant
 */
export function tellingEvents(given: {
  type: EventTypeName
  from: string
  to: Recipients
  at?: string
  text: string
}): string {
  const { bank, merchant, platform = false } = given.to
  const list = (column: string) => `case when ${column} is not null then jsonb_build_array(${column}) end`
  return `
    insert into outbox (kind, account_type, data)
    select '${eventKind}', 'platform', jsonb_strip_nulls(jsonb_build_object('type', '${given.type}',
      'at', instant_text(${given.at ?? rulesNow}), 'banks', ${list(bank)}, 'merchants', ${merchant ? list(merchant) : 'null::jsonb'},
      'platform', ${platform}, 'text', ${given.text}))
    from ${given.from}`
}

const jsonText = (value: string): string => `coalesce(to_json(${value})::text, 'null')`
const jsonInstant = (value: string): string => `coalesce('"' || instant_text(${value}) || '"', 'null')`

/** SQL of the JSON text of an order, from `o` (orders), `t` (tariffs) and `m` (mobile operators); its status as given. */
export const orderText = (status = 'o.status'): string => `
  '{"orderId":"' || o.order_id || '","externalId":' || ${jsonText('o.external_id')} || ',"operatorCode":' || ${jsonText('m.code')}
  || ',"tariffCode":' || ${jsonText('t.code')} || ',"status":"' || ${status} || '","price":"' || o.price
  || '","currency":' || ${jsonText('o.currency')} || ',"createdAt":' || ${jsonInstant('o.created_at')}
  || ',"reservedUntil":' || ${jsonInstant('o.reserved_until')} || ',"confirmedAt":' || ${jsonInstant('o.confirmed_at')}
  || ',"cancelledAt":' || ${jsonInstant('o.cancelled_at')} || ',"paymentReference":' || ${jsonText('o.payment_reference')} || '}'`

/** What `orderText` is made from, beside `o`. */
export const orderTextJoins = `
  join tariffs t on t.tariff_id = o.tariff_id join mobile_operators m on m.mobile_operator_id = t.mobile_operator_id`
