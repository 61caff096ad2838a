/** A bank or a merchant uploads its report (behaviour.md, sections 3, 7 and 8): the whole of it in one transaction, or nothing. */
import { randomUUID } from 'node:crypto'
import type { CampaignDeps } from '../campaigns/deps.ts'
import * as lifecycle from '../campaigns/lifecycle.ts'
import { actorOf, writeDecisions } from '../campaigns/moves-store.ts'
import { queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { DomainError } from '../errors.ts'
import { type Comparison, compareReport, findCompared, prepareComparison } from './comparison-store.ts'
import { type CountsByKind, countEveryKind, otherSide, type Side } from './differences.ts'
import { type AskedPart, lockPart } from './operations.ts'
import { loadReport } from './report-loading.ts'
import { findBrokenTerms, insertReport, replaceComparison } from './store.ts'

/** What was sent, as it comes; the comment is known once `bytes` has ended. */
export type ReportFile = { fileName: string; bytes: AsyncIterable<Buffer>; comment(): string | null }
/** `counts` of all differences that there are now. */
export type Uploaded = {
  reportId: string
  stage: lifecycle.ReportingStage | null
  comparison: Comparison
  counts: CountsByKind
}

const decisions = {
  bank: lifecycle.uploadBankReport,
  merchant: lifecycle.uploadMerchantReport,
} satisfies Record<Side, (bank: lifecycle.BankState) => lifecycle.Decision>

/**
 * Takes a report. The campaign is locked for a moment before the file is read, to refuse early, and again at the end: other moves of
 * the campaign never wait for an upload.
 *
 * @param given.open begins to read what was sent: a fault of its form comes before everything else
 * @throws DomainError 'not-found', 'forbidden', 'invalid' when no report of this side is awaited or the file is none
 */
export async function uploadReport(
  deps: CampaignDeps,
  given: AskedPart & { side: Side; open: () => Promise<ReportFile> },
): Promise<Uploaded> {
  const { side } = given
  const file = await given.open()
  await deps.database.transaction(async transaction => decisions[side]((await lockPart(transaction, deps, given)).bank))
  const reportId = randomUUID()
  return longTransaction(deps.database, async client => {
    const transaction = queryable(client)
    await prepareComparison(transaction)
    const { sizeBytes } = await loadReport(client, { reportId, side, bytes: file.bytes })
    const before = await findCompared(transaction, given)
    const comparison = await compareReport(transaction, { ...given, reportId, before })

    const { campaign, bank } = await lockPart(transaction, deps, given)
    const decision = decisions[side](bank)
    const since = await findCompared(transaction, given)
    if (since.bank !== before.bank || since.merchant !== before.merchant)
      throw new DomainError('invalid', 'Another report came in meanwhile: upload yours again')
    const now = deps.clock.now()
    const actor = actorOf(given.caller)
    const comment = file.comment()
    const { cashbackId, bankId } = given
    const report = {
      reportId,
      cashbackId,
      bankId,
      side,
      fileName: file.fileName,
      sizeBytes,
      uploadedAt: now,
      actor,
      comment,
    }
    await insertReport(transaction, report, comparison)
    await replaceComparison(transaction, { ...given, reports: { ...before, [side]: reportId }, comparison })
    const ofOther = await findBrokenTerms(transaction, before[otherSide(side)])
    const counts = countEveryKind(comparison.brokenTerms, comparison.unmatched, ofOther)
    const [after] = await writeDecisions(transaction, [{ campaign, decision }], { actor, now, comment })
    const stage = after?.banks.find(other => other.bankId === bankId)?.stage ?? null
    return { reportId, stage, comparison, counts }
  })
}
