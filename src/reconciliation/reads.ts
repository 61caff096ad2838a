/**
 * Reads reports and differences (contract/portal.md, "Reads"). The campaign's merchant sees the reports of all banks. A
 * bank sees only the reports of its own part.
 */
import type { CampaignDeps } from '../campaigns/deps.ts'
import { requireOwn } from '../campaigns/for-merchant/operations.ts'
import { bankNotInvited, requireParty } from '../campaigns/history/parties.ts'
import { campaignNotFound } from '../campaigns/not-found.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import type { Page } from '../http/paging.ts'
import { type DifferenceSearch, type FoundDifferences, findDifferences } from './difference-search.ts'
import { fileRemoved, findFile, readDifferences, readFile, type StoredFile } from './file-store.ts'
import type { Partner, PartParams } from './operations.ts'
import { listReconciliations, type Reconciliations } from './store.ts'

type Deps = Pick<CampaignDeps, 'database'>

/**
 * The state of the reconciliation.
 *
 * @throws DomainError 'not-found' for an unknown campaign, and to a bank that is not invited; 'forbidden' to a merchant that does
 *   not own the campaign
 */
export async function readReconciliation(
  { database }: { database: Queryable },
  params: { caller: Partner; cashbackId: string },
): Promise<Reconciliations> {
  const { caller, cashbackId } = params
  const bankId = caller.type === 'bank' ? caller.bankId : null
  await requireParty(database, params)
  const read = await listReconciliations(database, { cashbackId, bankId })
  if (!read) throw campaignNotFound('not-found')
  return read
}

/**
 * All differences of a bank's part, in batches.
 *
 * @param begin returns the database to read from; called after the permission check
 * @throws DomainError 'not-found' and 'forbidden' as `requirePart`; 'not-found' also when the differences were removed; and what
 *   `begin` throws
 */
export async function openDifferences(
  { database }: Deps,
  params: PartParams,
  begin: () => Promise<Queryable>,
): Promise<ReturnType<typeof readDifferences>> {
  await requirePart(database, params)
  const { cashbackId, bankId } = params
  return readDifferences(await begin(), { cashbackId, bankId })
}

/**
 * One page of the matching differences.
 *
 * @throws as `openDifferences`
 */
export async function searchDifferences(
  { database }: Deps,
  params: PartParams,
  search: DifferenceSearch,
  page: Page,
  begin: () => Promise<Queryable>,
): Promise<FoundDifferences> {
  await requirePart(database, params)
  return findDifferences(await begin(), params, search, page)
}

/**
 * Checks that the caller may read a bank's part in a campaign.
 *
 * @throws DomainError 'not-found' for an unknown campaign, for a bank that is not invited, and to a bank that reads another bank's
 *   part; 'forbidden' to a merchant that does not own the campaign
 */
async function requirePart(database: Queryable, params: PartParams): Promise<void> {
  const { caller, bankId } = params
  if (caller.type === 'bank' && caller.bankId !== bankId) throw bankNotInvited()
  await requireParty(database, params)
}

/**
 * A report's file, with its bytes in pieces.
 *
 * @param begin returns the database to read from; called after the permission check
 * @throws DomainError 'not-found' for an unknown report, to a bank for another bank's report, and for a removed file; 'forbidden'
 *   to a merchant that does not own the campaign; and what `begin` throws
 */
export async function openFile(
  { database }: Deps,
  { caller, reportId }: { caller: Partner; reportId: string },
  begin: () => Promise<Queryable>,
): Promise<StoredFile & { bytes: AsyncGenerator<Buffer> }> {
  const file = await findFile(database, reportId)
  if (!file || (caller.type === 'bank' && file.bankId !== caller.bankId))
    throw new DomainError('not-found', 'The report was not found')
  if (caller.type === 'retailer') requireOwn(file, caller)
  if (file.isRemoved) throw fileRemoved()
  return { ...file, bytes: readFile(await begin(), file) }
}
