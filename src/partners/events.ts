/** The events that applying a directory file causes (contract/events.md, "Types"). */
import type { Queryable } from '../db/database.ts'
import { type RecordedEvent, recordEvents } from '../outbox/event-writing.ts'
import type { Changes, TerminalsChange } from './changes.ts'

const maxListed = 100
/** Maximum length of an event's JSON data. It leaves room for the event's other fields. */
const maxBytes = 3_900

/** The codes of the mobile operators that a bank sees, by the bank's code. */
type VisibleOperators = ReadonlyMap<string, ReadonlySet<string>>
/** The catalogue before a file is applied: the active operators, and those that each bank of the file sees. */
type CatalogueBefore = { listed: ReadonlySet<string>; ofBanks: VisibleOperators }

/** Finds the codes of the mobile operators that are active now, and which of them each of these banks sees. */
export async function findCatalogue(transaction: Queryable, bankCodes: readonly string[]): Promise<CatalogueBefore> {
  const active = await transaction.query<{ code: string }>(`select code from mobile_operators where status = 'active'`)
  const ofBanks = bankCodes.length > 0 ? await findVisibleOperators(transaction, bankCodes) : new Map()
  return { listed: new Set(active.map(({ code }) => code)), ofBanks }
}

/** The mobile operators that these banks see now. */
async function findVisibleOperators(transaction: Queryable, bankCodes: readonly string[]): Promise<VisibleOperators> {
  const rows = await transaction.query<{ bank: string; operators: string[] }>(
    `select b.code as bank, array_agg(m.code) as operators from banks b join mobile_operators m on m.status = 'active' and (
       b.esim_all_operators or exists (
         select from bank_mobile_operators o where o.bank_id = b.bank_id and o.mobile_operator_id = m.mobile_operator_id))
     where b.code = any($1) group by b.code`,
    [bankCodes],
  )
  return new Map(rows.map(({ bank, operators }) => [bank, new Set(operators)]))
}

type VisibilityChange = { gained: string[]; lost: string[] }

/** The mobile operators that each changed bank has gained and lost. Banks without such a difference are left out. */
async function findVisibilityChanges(
  transaction: Queryable,
  changes: Changes,
  before: VisibleOperators,
): Promise<Map<string, VisibilityChange>> {
  const banks = changes.codes('bank')
  const after = banks.length > 0 ? await findVisibleOperators(transaction, banks) : new Map<string, Set<string>>()
  const none: ReadonlySet<string> = new Set()
  const found = banks.map((bank): [string, VisibilityChange] => {
    const [old, present] = [before.get(bank) ?? none, after.get(bank) ?? none]
    return [bank, { gained: [...present.difference(old)], lost: [...old.difference(present)] }]
  })
  return new Map(found.filter(([, { gained, lost }]) => gained.length + lost.length > 0))
}

/**
 * Finds the banks that may see changed operators, and the codes of these operators. Banks that have gained or lost
 * operators are always in the result.
 *
 * @param operators the operators that were listed before and whose own fields have changed. They are included even if
 *   they are no longer active, because banks must learn of the end
 * @param concerned all operators that have changed or whose tariffs have changed
 * @param ofBanks the codes of banks that have gained or lost operators
 */
function findSeen(
  transaction: Queryable,
  { operators, concerned, ofBanks }: { operators: string[]; concerned: string[]; ofBanks: string[] },
): Promise<{ bankId: string; code: string; seen: string[] }[]> {
  return transaction.query(
    `select b.bank_id as "bankId", b.code, array_remove(array_agg(m.code order by m.code), null) as seen
     from banks b left join mobile_operators m on m.code = any($1) and (m.status = 'active' or m.code = any($2))
       and (b.esim_all_operators or exists (
         select from bank_mobile_operators o where o.bank_id = b.bank_id and o.mobile_operator_id = m.mobile_operator_id))
     where m.code is not null or b.code = any($3) group by b.bank_id, b.code order by b.bank_id`,
    [concerned, operators, ofBanks],
  )
}

async function findTariffs(transaction: Queryable, operatorCodes: readonly string[]): Promise<TariffCode[]> {
  if (operatorCodes.length === 0) return []
  return transaction.query<TariffCode>(
    `select m.code as "operatorCode", t.code as "tariffCode" from tariffs t join mobile_operators m using (mobile_operator_id)
     where m.code = any($1) order by m.code, t.position, t.code`,
    [operatorCodes],
  )
}

/**
 * Records an event for each bank that the changes concern. The event names the changed mobile operators and tariffs
 * that the bank may see, and the operators that the bank may now sell or may no longer sell.
 *
 * @param before the operators that were listed before the file was applied, and those that the banks of the file saw.
 *   No bank gets an event about an operator that is listed neither before nor after
 */
export async function recordCatalogueChanged(
  transaction: Queryable,
  changes: Changes,
  before: CatalogueBefore,
): Promise<void> {
  const operators = changes.codes('operator')
  const tariffs = changes.codes('tariff').map(code => {
    const [operatorCode = '', tariffCode = ''] = code.split('/')
    return { operatorCode, tariffCode }
  })
  const visibility = await findVisibilityChanges(transaction, changes, before.ofBanks)
  const concerned = [...new Set([...operators, ...tariffs.map(({ operatorCode }) => operatorCode)])]
  if (concerned.length + visibility.size === 0) return
  const appeared = operators.filter(code => !before.listed.has(code))
  const gainedByBanks = [...visibility.values()].flatMap(each => each.gained)
  const gained = await findTariffs(transaction, [...new Set([...appeared, ...gainedByBanks])])
  const listed = operators.filter(code => before.listed.has(code))
  const seen = await findSeen(transaction, { operators: listed, concerned, ofBanks: [...visibility.keys()] })
  const received = seen.map(bank => ({
    bankId: bank.bankId,
    data: dataFor(bank.seen, visibility.get(bank.code) ?? { gained: [], lost: [] }, {
      operators,
      appeared,
      tariffs,
      gained,
    }),
  }))
  // Banks that see the same changes share the text of an event.
  const groups = Map.groupBy(received, ({ data }) => JSON.stringify(data))
  await recordEvents(
    transaction,
    [...groups.values()].flatMap(group =>
      group.slice(0, 1).map(({ data }): RecordedEvent => {
        return { type: 'catalogue.changed', at: null, banks: group.map(({ bankId }) => bankId), data }
      }),
    ),
  )
}

function dataFor(
  seen: readonly string[],
  { gained, lost }: VisibilityChange,
  all: { operators: string[]; appeared: string[]; tariffs: TariffCode[]; gained: TariffCode[] },
) {
  const isSeen = new Set(seen)
  // All tariffs of an operator that was not listed before are new for the banks that see it.
  const isGained = new Set([...gained, ...all.appeared.filter(code => isSeen.has(code))])
  return bounded(
    [...new Set([...all.operators.filter(code => isSeen.has(code)), ...gained, ...lost])],
    [
      ...all.tariffs.filter(({ operatorCode }) => isSeen.has(operatorCode) && !isGained.has(operatorCode)),
      ...all.gained.filter(({ operatorCode }) => isGained.has(operatorCode)),
    ],
  )
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

/** Records events with the present number of terminals, for merchants and for the banks of campaigns that use these terminals. */
export async function recordTerminalsChanged(
  transaction: Queryable,
  changed: ReadonlyMap<string, TerminalsChange>,
): Promise<void> {
  if (changed.size === 0) return
  const rows = await transaction.query<{ merchantId: string; total: number; banks: string[] }>(
    `select l.merchant_id as "merchantId", l.terminals_count as total, array(
       select distinct b.bank_id from campaigns c join campaign_banks b using (cashback_id)
       where c.merchant_id = l.merchant_id and c.terminals_platform and b.status in ('pending', 'approved')
         and c.status in ('awaitingBankApproval', 'awaitingMerchantApproval', 'approved', 'active') order by b.bank_id
     ) as banks
     from merchant_terminal_lists l where l.merchant_id = any($1) order by l.merchant_id`,
    [[...changed.keys()]],
  )
  const events = rows.map(({ merchantId, total, banks }): RecordedEvent => {
    const { added = 0, removed = 0 } = changed.get(merchantId) ?? {}
    const data = { retailerId: merchantId, added, removed, total }
    return { type: 'merchant.terminals_changed', at: null, banks, merchants: [merchantId], data }
  })
  await recordEvents(transaction, events)
}
