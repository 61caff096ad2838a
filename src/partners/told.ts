/** The events of an apply (docs/contract/events.md, "Types"). */
import type { Queryable } from '../db/database.ts'
import { type ToldEvent, tellEvents } from '../events/event-writing.ts'
import type { Changes, TerminalsChange } from './changes.ts'

const maxListed = 100
/** Maximum length of the text of an event's data, leaving room for the rest. */
const maxBytes = 3_900

/** Sends each bank one event with the changed mobile operators and tariffs that it may see. */
export async function tellCatalogueChanged(transaction: Queryable, changes: Changes): Promise<void> {
  const operators = changes.codes('operator')
  const tariffs = changes.codes('tariff').map(code => {
    const [operatorCode = '', tariffCode = ''] = code.split('/')
    return { operatorCode, tariffCode }
  })
  const concerned = [...new Set([...operators, ...tariffs.map(({ operatorCode }) => operatorCode)])]
  if (concerned.length === 0) return
  // Banks that see the same changes share the text of an event.
  const groups = await transaction.query<{ banks: string[]; seen: string[] }>(
    `select array_agg(bank_id order by bank_id) as banks, seen from (
       select b.bank_id, array_agg(m.code order by m.code) as seen from banks b join mobile_operators m
         on b.esim_all_operators or exists (
           select from bank_mobile_operators o where o.bank_id = b.bank_id and o.mobile_operator_id = m.mobile_operator_id)
       where m.code = any($1) and (m.status = 'active' or m.code = any($2)) group by b.bank_id
     ) as sights group by seen`,
    [concerned, operators],
  )
  const events = groups.map(({ banks, seen }): ToldEvent => {
    const isSeen = new Set(seen)
    const data = bounded(
      operators.filter(code => isSeen.has(code)),
      tariffs.filter(({ operatorCode }) => isSeen.has(operatorCode)),
    )
    return { type: 'catalogue.changed', at: null, banks, data }
  })
  await tellEvents(transaction, events)
}

type TariffCode = { operatorCode: string; tariffCode: string }

function bounded(operators: readonly string[], tariffs: readonly TariffCode[]) {
  const data = {
    operatorCodes: operators.slice(0, maxListed),
    tariffs: tariffs.slice(0, maxListed),
    truncated: false,
  }
  while (Buffer.byteLength(JSON.stringify(data)) > maxBytes)
    (data.tariffs.length > 0 ? data.tariffs : data.operatorCodes).pop()
  data.truncated = data.operatorCodes.length < operators.length || data.tariffs.length < tariffs.length
  return data
}

/** Tells merchants, and the banks of their campaigns that use these terminals, how many there are now. */
export async function tellTerminalsChanged(
  transaction: Queryable,
  changed: ReadonlyMap<string, TerminalsChange>,
): Promise<void> {
  const moved = [...changed].filter(([, { added, removed }]) => added + removed > 0)
  if (moved.length === 0) return
  const rows = await transaction.query<{ merchantId: string; total: number; banks: string[] }>(
    `select l.merchant_id as "merchantId", l.terminals_count as total, array(
       select distinct b.bank_id from campaigns c join campaign_banks b using (cashback_id)
       where c.merchant_id = l.merchant_id and c.terminals_platform and b.status in ('pending', 'approved')
         and c.status in ('awaitingBankApproval', 'awaitingMerchantApproval', 'approved', 'active') order by b.bank_id
     ) as banks
     from merchant_terminal_lists l where l.merchant_id = any($1) order by l.merchant_id`,
    [moved.map(([merchantId]) => merchantId)],
  )
  const events = rows.map(({ merchantId, total, banks }): ToldEvent => {
    const { added = 0, removed = 0 } = changed.get(merchantId) ?? {}
    const data = { retailerId: merchantId, added, removed, total }
    return { type: 'merchant.terminals_changed', at: null, banks, merchants: [merchantId], data }
  })
  await tellEvents(transaction, events)
}
