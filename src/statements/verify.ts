/**
 * Checks statements on demand (contract/statements.md, "Checking"), with the same rules as the audit but without
 * recording the result.
 */
import { addFindings, type Check, type Found, findingsText, type Step } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import { salesChecks, salesSteps } from '../esim/sold/audit-steps.ts'
import { statementChecks, statementSteps } from './audit-steps.ts'

export type Verified = { ok: boolean; checks: { code: string; name: string; ok: boolean; detail: string }[] }

/**
 * @param bankId the bank whose statements are checked; null: all banks, and also the figures that open statements use
 */
export async function verifyStatements(database: Queryable, bankId: string | null): Promise<Verified> {
  const checks: readonly Check[] = bankId === null ? [...statementChecks, ...salesChecks] : statementChecks
  const steps = bankId === null ? [...statementSteps(), ...salesSteps] : statementSteps({ bankId })
  const found: Record<string, Found> = {}
  for (const step of steps) await run(database, step, found)
  const results = checks.map(({ code, name, holds }) => {
    const ofCheck = found[code]
    return { code, name, ok: !ofCheck, detail: ofCheck ? findingsText(ofCheck) : holds }
  })
  return { ok: results.every(({ ok }) => ok), checks: results }
}

async function run(database: Queryable, step: Step, found: Record<string, Found>): Promise<void> {
  for (let after: string[] | null = null; ; ) {
    const piece = await step.next(database, after)
    addFindings(found, piece.findings)
    if (piece.reached === null) return
    after = piece.reached
  }
}
