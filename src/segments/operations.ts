/** A merchant forms the segment of its campaign from a file of customers (contract/campaigns.md, "Segments"). */
import type { MerchantCaller } from '../caller.ts'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { requireOwn } from '../campaigns/for-merchant/operations.ts'
import { actorOf } from '../campaigns/lifecycle/actor.ts'
import type { Note } from '../campaigns/lifecycle/decided.ts'
import { lockCampaignByClock } from '../campaigns/lifecycle/due-transitions.ts'
import { type Guard, requireExpected } from '../campaigns/lifecycle/expected-version.ts'
import { segmentBanks } from '../campaigns/lifecycle/lifecycle.ts'
import type { LockedCampaign } from '../campaigns/lifecycle/locking-store.ts'
import { writeDecisions } from '../campaigns/lifecycle/transitions-store.ts'
import { campaignNotFound } from '../campaigns/not-found.ts'
import type { Queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { shareCustomers } from './customers-store.ts'
import { findSegmentBanks, insertSegment, removeSegment, type SegmentPart, splitByBank } from './segment-store.ts'
import { type Malformed, stageWellFormed } from './staging.ts'
import { countUpload, lockUploads, requireUploadLeft } from './uploads-per-day-store.ts'

export const maxSegmentLines = 1_000_000

type Params = { merchant: MerchantCaller; cashbackId: string } & Guard
/** The uploaded file. `bytes` ends only after the whole request was read and was found to be valid. */
type SegmentFile = { fileName: string; bytes: AsyncIterable<Buffer> }
/**
 * `parts` has one part for each bank that `requireOpen` returns. Unknown ids and customers of other banks are not
 * reported.
 */
export type FormedSegment = { parts: SegmentPart[]; malformed: Malformed }

/**
 * Replaces the whole segment, or leaves it as it was. The campaign is locked briefly before the file is read, to refuse early,
 * and again after the file was split, so that other transitions of the campaign never wait for an upload.
 *
 * @param params.open opens the form. Errors in the form are reported before all other errors
 * @param params.signal aborts when the client closes the connection: the segment then stays as it was
 * @throws DomainError 'not-found' for an unknown campaign; 'forbidden' for another merchant's campaign; 'campaign-state' when its
 *   period has ended or it is closed; 'invalid' for an invalid file; 'stale' when the campaign has changed since the merchant saw
 *   it; 'too-many' when the campaign or the merchant has reached its maximum of segments for today
 */
export async function formSegment(
  deps: CampaignDeps,
  params: Params & { open: () => Promise<SegmentFile>; signal?: AbortSignal | undefined },
): Promise<FormedSegment> {
  const { database, clock } = deps
  const file = await params.open()
  const upload = { merchantId: params.merchant.merchantId, cashbackId: params.cashbackId }
  await database.transaction(async transaction => {
    await requireOpen(transaction, await lockOwn(transaction, deps, params), clock.now(), params)
    await requireUploadLeft(transaction, upload)
  })
  return longTransaction(
    database,
    async (client, transaction) => {
      const malformed = await stageWellFormed(client, file.bytes, maxSegmentLines)
      await shareCustomers(transaction)
      await splitByBank(transaction)

      await lockUploads(transaction, upload.merchantId)
      const campaign = await lockOwn(transaction, deps, params)
      const now = clock.now()
      const bankIds = await requireOpen(transaction, campaign, now, params)
      await countUpload(transaction, upload)
      const segment = { cashbackId: campaign.cashbackId, bankIds, formedAt: now, sourceFileName: file.fileName }
      const before = await removeSegment(transaction, campaign.cashbackId)
      const parts = await insertSegment(transaction, segment)
      const notes = notesOf(before, parts)
      const unmoved = { campaign, decision: { changes: [] }, notes }
      await writeDecisions(transaction, [unmoved], { actor: actorOf(params.merchant), now })
      return { parts, malformed }
    },
    { signal: params.signal },
  )
}

/**
 * Checks that a segment of the campaign may be formed now.
 *
 * @returns the banks that get a part of it: they take part in the campaign or have not decided yet, and they allow
 *   segments of their customers
 */
async function requireOpen(
  transaction: Queryable,
  campaign: LockedCampaign,
  now: Date,
  guard: Guard,
): Promise<string[]> {
  requireExpected(campaign, guard)
  return findSegmentBanks(transaction, segmentBanks(campaign, now))
}

/**
 * The entries about an upload in the campaign's history. Each bank gets one if it has a part of the segment now or had
 * one before; the count is null where it has no part. If there is no such bank, one entry about the campaign records
 * the upload.
 */
function notesOf(before: readonly SegmentPart[], parts: readonly SegmentPart[]): Note[] {
  const countIn = (list: readonly SegmentPart[], bankId: string): number | null =>
    list.find(part => part.bankId === bankId)?.customersCount ?? null
  const bankIds = new Set([...parts, ...before].map(({ bankId }) => bankId))
  if (bankIds.size === 0)
    return [{ trigger: 'segment', subject: 'campaign', bankId: null, changes: { customersCount: [null, 0] } }]
  return [...bankIds].map(bankId => {
    const changes = { customersCount: [countIn(before, bankId), countIn(parts, bankId)] } as const
    return { trigger: 'segment', subject: 'bank', bankId, changes }
  })
}

async function lockOwn(
  transaction: Queryable,
  deps: CampaignDeps,
  { cashbackId, merchant }: Params,
): Promise<LockedCampaign> {
  const campaign = await lockCampaignByClock(transaction, deps, cashbackId)
  if (!campaign) throw campaignNotFound('not-found')
  requireOwn(campaign, merchant)
  return campaign
}
