/** Proves the books (contract/operations.md, "The audit"): what the rules promise is counted anew from what the database holds. */
import { campaignCheckFunctions, campaignChecks } from '../campaigns/audit-checks.ts'
import { type CheckResult, runCheck } from '../db/check.ts'
import { type Database, queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { checkBooks, checkSealedProfiles } from '../esim/audit.ts'
import { auditChecks } from '../esim/audit-checks.ts'
import type { Sealing } from '../esim/sealing.ts'
import { checksOfRetention, type RetentionDays } from '../retention/removal.ts'

export type AuditDeps = { database: Database; sealing: Sealing; retention: RetentionDays }

export type AuditResult = { ok: boolean; checks: CheckResult[] }

/**
 * Checks all orders, profiles and campaigns in one snapshot; everything goes on meanwhile.
 *
 * @returns each check with what was found, in plain words and without secrets
 */
export function audit(deps: AuditDeps, now: Date): Promise<AuditResult> {
  const begin = `begin; ${campaignCheckFunctions}; commit; begin isolation level repeatable read read only`
  return longTransaction(
    deps.database,
    async client => {
      const snapshot = queryable(client)
      const checks = [await checkBooks(snapshot, now), await checkSealedProfiles(snapshot, deps.sealing)]
      const allChecks = [...auditChecks, ...campaignChecks, ...checksOfRetention(deps.retention, now)]
      for (const check of allChecks) checks.push(await runCheck(snapshot, check))
      return { ok: checks.every(({ ok }) => ok), checks }
    },
    { begin, keep: false },
  )
}
