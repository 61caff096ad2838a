/** The history of a campaign: who did what (contract/campaigns.md, "History"). */
import type { BankCaller, MerchantCaller } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import type { FieldChanges } from '../lifecycle/decided.ts'
import { roundedCustomers } from '../rounded-customers.ts'
import type { HistoryCursorDeps } from './cursors.ts'
import { type HistoryPage, readHistoryPage } from './pages.ts'
import { requireParty } from './parties.ts'
import { type Decision, findDecisions, type HistoryEntry } from './store.ts'

/**
 * A page of the history, oldest entries first. A bank gets the entries about the campaign itself and about its own
 * part. A merchant gets rounded sizes of segments.
 *
 * @param params.before the `next` of the page that was read before; undefined: the newest page
 * @throws DomainError 'invalid' when `before` is none of these; 'not-found' for an unknown campaign, and to a bank that
 *   is not invited; 'forbidden' for another merchant's campaign
 */
export async function readHistory(
  deps: HistoryCursorDeps & { database: Queryable },
  params: { caller: BankCaller | MerchantCaller; cashbackId: string; before: string | undefined },
): Promise<HistoryPage> {
  const { caller, cashbackId, before } = params
  await requireParty(deps.database, { caller, cashbackId })
  if (caller.type === 'bank')
    return readHistoryPage(deps, { cashbackId, reader: { type: 'bank', id: caller.bankId } }, before)
  const reader = { type: 'retailer', id: caller.merchantId } as const
  const { entries, next } = await readHistoryPage(deps, { cashbackId, reader }, before)
  const isSegment = ({ trigger }: HistoryEntry) => trigger === 'segment'
  return {
    entries: entries.map(entry => (isSegment(entry) ? { ...entry, changes: rounded(entry.changes) } : entry)),
    next,
  }
}

/**
 * The current decisions of the campaign's banks; a bank gets only its own.
 *
 * @throws DomainError as `readHistory`
 */
export async function readDecisions(
  { database }: { database: Queryable },
  { caller, cashbackId }: { caller: BankCaller | MerchantCaller; cashbackId: string },
): Promise<Decision[]> {
  await requireParty(database, { caller, cashbackId })
  return findDecisions(database, cashbackId, caller.type === 'bank' ? caller.bankId : null)
}

const rounded = (changes: FieldChanges | null): FieldChanges =>
  Object.fromEntries(
    Object.entries(changes ?? {}).map(([field, values]) => [field, values && [round(values[0]), round(values[1])]]),
  )
const round = (count: unknown): number | null => (count === null ? null : roundedCustomers(Number(count)))
