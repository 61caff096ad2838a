/** Uploads the report of a bank or a merchant (contract/reconciliation.md, "The report file") in one transaction. */
import { randomUUID } from 'node:crypto'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { actorOf } from '../campaigns/lifecycle/actor.ts'
import * as lifecycle from '../campaigns/lifecycle/lifecycle.ts'
import type { ReportingStage } from '../campaigns/lifecycle/transitions.ts'
import { writeDecisions } from '../campaigns/lifecycle/transitions-store.ts'
import type { Queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { DomainError } from '../errors.ts'
import {
  type Compared,
  type Comparison,
  compareReport,
  findCompared,
  forgetReport,
  prepareComparison,
} from './comparison-store.ts'
import { type CountsByKind, countEveryKind, otherSide, type Side, totalOf } from './differences.ts'
import { lockPart, type PartParams } from './operations.ts'
import { loadReport } from './report-loading.ts'
import { findBrokenTerms, insertReport, replaceComparison } from './store.ts'

/** The file while it arrives. The comment is known only after all `bytes` are read. */
type ReportFile = { fileName: string; bytes: AsyncIterable<Buffer>; comment(): string | null }
/** `counts` has the numbers of all differences: from the campaign's terms, and between the latest reports. */
export type Tried = { comparison: Comparison; counts: CountsByKind }
export type Uploaded = Tried & { reportId: string; stage: ReportingStage | null }
/** `signal` aborts when the client closes the connection. Nothing of the upload is then stored. */
type Params = PartParams & { side: Side; open: () => Promise<ReportFile>; signal?: AbortSignal }

const decisions = {
  bank: lifecycle.uploadBankReport,
  merchant: lifecycle.uploadMerchantReport,
} satisfies Record<Side, (bank: lifecycle.BankState) => lifecycle.Decision>

/**
 * Uploads a report. The campaign is locked briefly before the file is read, to refuse early, and again at the end, so that other
 * transitions of the campaign never wait for an upload.
 *
 * @param params.open opens the form. Errors in the form are reported before all other errors
 * @throws DomainError 'not-found' and 'forbidden' as `lockPart`; 'campaign-state' when no report of this side is
 *   expected; 'invalid' for an invalid file, or when another report was uploaded meanwhile; 'unavailable' when the
 *   client has disconnected
 */
export async function uploadReport(deps: CampaignDeps, params: Params): Promise<Uploaded> {
  const { side, cashbackId, bankId } = params
  const file = await openAwaited(deps, params)
  const reportId = randomUUID()
  return longTransaction(
    deps.database,
    async (client, transaction) => {
      await prepareComparison(transaction)
      const { sizeBytes, sha256 } = await loadReport(client, { reportId, side, bytes: file.bytes })
      const before = await findCompared(transaction, params)
      await forgetReport(transaction, side, before)
      const tried = await compare(transaction, { ...params, reportId, before })

      const { campaign, bank } = await lockPart(transaction, deps, params)
      const decision = decisions[side](bank)
      const since = await findCompared(transaction, params)
      if (since.bank !== before.bank || since.merchant !== before.merchant)
        throw new DomainError('invalid', 'Another report came in meanwhile: upload yours again')
      const { comparison } = tried
      const now = deps.clock.now()
      const actor = actorOf(params.caller)
      const { fileName } = file
      const comment = file.comment()
      const report = {
        reportId,
        cashbackId,
        bankId,
        side,
        fileName,
        sizeBytes,
        sha256,
        uploadedAt: now,
        actor,
        comment,
      }
      await insertReport(transaction, report, comparison)
      const facts = { reportId, sha256: sha256.toString('hex'), differences: totalOf(tried.counts) }
      await replaceComparison(transaction, { ...params, reports: { ...before, [side]: reportId }, comparison })
      const [after] = await writeDecisions(transaction, [{ campaign, decision, facts }], { actor, now, comment })
      const stage = after?.banks.find(other => other.bankId === bankId)?.stage ?? null
      return { ...tried, reportId, stage }
    },
    { signal: params.signal },
  )
}

/**
 * Reads and compares a report like `uploadReport`, but keeps nothing (contract/reconciliation.md, "Trials").
 *
 * @throws DomainError like `uploadReport`
 */
export async function tryReport(deps: CampaignDeps, params: Params): Promise<Tried> {
  const { side } = params
  const file = await openAwaited(deps, params)
  const reportId = randomUUID()
  return longTransaction(
    deps.database,
    async (client, transaction) => {
      await prepareComparison(transaction)
      await loadReport(client, { reportId, side, bytes: file.bytes, isTrial: true })
      return compare(transaction, { ...params, reportId, before: await findCompared(transaction, params) })
    },
    // A trial reads from one snapshot, so that a report that is uploaded meanwhile does not affect the comparison.
    { signal: params.signal, keep: false, begin: 'begin isolation level repeatable read' },
  )
}

/** Opens the form, and checks before the file is read that a report of this side is expected. */
async function openAwaited(deps: CampaignDeps, params: Params): Promise<ReportFile> {
  const file = await params.open()
  await deps.database.transaction(async transaction =>
    decisions[params.side]((await lockPart(transaction, deps, params)).bank),
  )
  return file
}

async function compare(
  transaction: Queryable,
  params: { cashbackId: string; side: Side; reportId: string; before: Compared },
): Promise<Tried> {
  const comparison = await compareReport(transaction, params)
  const ofOther = await findBrokenTerms(transaction, params.before[otherSide(params.side)])
  return { comparison, counts: countEveryKind(comparison.brokenTerms, comparison.unmatched, ofOther) }
}
