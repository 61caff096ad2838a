/**
 * Checks statements on demand (contract/statements.md, "Checking"), with the same rules as the audit but without
 * recording the result.
 */
import type { Check, Step } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import { salesChecks, salesSteps } from '../esim/sold/audit-steps.ts'
import { statementChecks, statementSteps } from './audit-steps.ts'

const maxNamed = 10

export type Verified = { ok: boolean; checks: { code: string; name: string; ok: boolean; detail: string }[] }

/** @param bankId null: all banks, and also the figures that open statements use */
export async function verifyStatements(database: Queryable, bankId: string | null): Promise<Verified> {
  const checks: readonly Check[] = bankId === null ? [...statementChecks, ...salesChecks] : statementChecks
  const steps = bankId === null ? [...statementSteps(), ...salesSteps] : statementSteps({ bankId })
  const found = new Map<string, string[]>()
  for (const step of steps) await run(database, step, found)
  const results = checks.map(({ code, name, holds }) => {
    const texts = found.get(code) ?? []
    const more = texts.length > maxNamed ? [`and ${texts.length - maxNamed} more`] : []
    const detail = texts.length === 0 ? holds : [...texts.slice(0, maxNamed), ...more].join('; ')
    return { code, name, ok: texts.length === 0, detail }
  })
  return { ok: results.every(({ ok }) => ok), checks: results }
}

async function run(database: Queryable, step: Step, found: Map<string, string[]>): Promise<void> {
  for (let after: string[] | null = null; ; ) {
    const piece = await step.next(database, after)
    for (const { code, text } of piece.findings) found.set(code, [...(found.get(code) ?? []), text])
    if (piece.reached === null) return
    after = piece.reached
  }
}
