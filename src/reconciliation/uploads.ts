/**
 * Uploads the report of a bank or a merchant (contract/reconciliation.md, "The report file") in one transaction: all of it or
 * nothing.
 */
import { randomUUID } from 'node:crypto'
import type { CampaignDeps } from '../campaigns/deps.ts'
import * as lifecycle from '../campaigns/lifecycle/lifecycle.ts'
import { actorOf, writeDecisions } from '../campaigns/lifecycle/moves-store.ts'
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
import { type AskedPart, lockPart } from './operations.ts'
import { loadReport } from './report-loading.ts'
import { findBrokenTerms, insertReport, replaceComparison } from './store.ts'

/** The file as it arrives; the comment is known once `bytes` has ended. */
export type ReportFile = { fileName: string; bytes: AsyncIterable<Buffer>; comment(): string | null }
/** `counts`: all differences from the terms and between the latest reports. */
export type Tried = { comparison: Comparison; counts: CountsByKind }
export type Uploaded = Tried & { reportId: string; stage: lifecycle.ReportingStage | null }
/** `left` aborts when the client closes the connection: then nothing is kept. */
type Given = AskedPart & { side: Side; open: () => Promise<ReportFile>; left?: AbortSignal }

const decisions = {
  bank: lifecycle.uploadBankReport,
  merchant: lifecycle.uploadMerchantReport,
} satisfies Record<Side, (bank: lifecycle.BankState) => lifecycle.Decision>

/**
 * Uploads a report. The campaign is locked briefly before the file is read, to refuse early, and again at the end, so that other
 * transitions of the campaign never wait for an upload.
 *
 * @param given.open opens the form: its errors come before all others
 * @throws DomainError 'not-found', 'forbidden', 'invalid' when no report of this side is expected or the file is invalid;
 *   'unavailable' when the client has left
 */
export async function uploadReport(deps: CampaignDeps, given: Given): Promise<Uploaded> {
  const { side, cashbackId, bankId } = given
  const file = await openAwaited(deps, given)
  const reportId = randomUUID()
  return longTransaction(
    deps.database,
    async (client, transaction) => {
      await prepareComparison(transaction)
      const { sizeBytes, sha256 } = await loadReport(client, { reportId, side, bytes: file.bytes })
      const before = await findCompared(transaction, given)
      await forgetReport(transaction, side, before)
      const tried = await compare(transaction, { ...given, reportId, before })

      const { campaign, bank } = await lockPart(transaction, deps, given)
      const decision = decisions[side](bank)
      const since = await findCompared(transaction, given)
      if (since.bank !== before.bank || since.merchant !== before.merchant)
        throw new DomainError('invalid', 'Another report came in meanwhile: upload yours again')
      const { comparison } = tried
      const now = deps.clock.now()
      const actor = actorOf(given.caller)
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
      await replaceComparison(transaction, { ...given, reports: { ...before, [side]: reportId }, comparison })
      const [after] = await writeDecisions(transaction, [{ campaign, decision, facts }], { actor, now, comment })
      const stage = after?.banks.find(other => other.bankId === bankId)?.stage ?? null
      return { ...tried, reportId, stage }
    },
    { left: given.left },
  )
}

/**
 * Reads and compares a report like `uploadReport`, but keeps nothing (contract/reconciliation.md, "Trials").
 *
 * @throws DomainError as `uploadReport`
 */
export async function tryReport(deps: CampaignDeps, given: Given): Promise<Tried> {
  const { side } = given
  const file = await openAwaited(deps, given)
  const reportId = randomUUID()
  return longTransaction(
    deps.database,
    async (client, transaction) => {
      await prepareComparison(transaction)
      await loadReport(client, { reportId, side, bytes: file.bytes, isTrial: true })
      return compare(transaction, { ...given, reportId, before: await findCompared(transaction, given) })
    },
    // A snapshot, so that a report that is uploaded meanwhile does not mix with the compared ones.
    { left: given.left, keep: false, begin: 'begin isolation level repeatable read' },
  )
}

/** Opens the form, and checks before the file is read that a report of this side is expected. */
async function openAwaited(deps: CampaignDeps, given: Given): Promise<ReportFile> {
  const file = await given.open()
  await deps.database.transaction(async transaction =>
    decisions[given.side]((await lockPart(transaction, deps, given)).bank),
  )
  return file
}

async function compare(
  transaction: Queryable,
  given: { cashbackId: string; side: Side; reportId: string; before: Compared },
): Promise<Tried> {
  const comparison = await compareReport(transaction, given)
  const ofOther = await findBrokenTerms(transaction, given.before[otherSide(given.side)])
  return { comparison, counts: countEveryKind(comparison.brokenTerms, comparison.unmatched, ofOther) }
}
