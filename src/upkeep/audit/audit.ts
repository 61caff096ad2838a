/**
 * The audit (contract/operations.md, "The audit"): checks all rules against the data in the database, one batch of rows
 * after the other, while the platform is in use.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { tokenKeysCheck, tokenKeysStep } from '../../access/token-keys-audit.ts'
import { auditLogCheck, auditLogStep } from '../../audit-log/audit-step.ts'
import { campaignChecks } from '../../campaigns/lifecycle/audit-checks.ts'
import { campaignSteps } from '../../campaigns/lifecycle/audit-steps.ts'
import {
  addCount,
  addFindings,
  type Check,
  type CheckResult,
  type Counts,
  type Found,
  findingsText,
  type Piece,
  type Step,
} from '../../db/check.ts'
import { type Database, type Queryable, queryable } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import { salesChecks, salesSteps } from '../../esim/sold/audit-steps.ts'
import { auditChecks, booksCheck, orderSteps } from '../../esim/stock/audit-checks.ts'
import { sealedCheck, sealedStep } from '../../esim/stock/sealed-audit.ts'
import type { Sealing } from '../../esim/stock/sealing.ts'
import { confirmedEvents, feedChecks, feedDaysStep, feedsStep } from '../../events/audit-step.ts'
import { campaignEvents, campaignEventsCheck, campaignMovesOf02 } from '../../events/campaign-audit-step.ts'
import type { NumberAllEvents } from '../../events/feed.ts'
import { reportSteps, reportSumsCheck } from '../../reconciliation/audit-steps.ts'
import { checksOfRetention, type RetentionDays } from '../../retention/removal.ts'
import type { Sealer } from '../../sealing.ts'
import { statementChecks, statementSteps } from '../../statements/audit-steps.ts'
import { secretsCheck, secretsStep } from '../../webhooks/secrets-audit.ts'
import type { AuditProgress, AuditResult, AuditRun } from './store.ts'
import * as store from './store.ts'

export type { AuditResult } from './store.ts'

export type AuditDeps = {
  database: Database
  sealing: Sealing
  /** `sealer` decrypts the secrets of endpoints. */
  webhooks: { sealer: Sealer }
  masterKeys: readonly Buffer[]
  retention: RetentionDays
  /** Numbers the events recorded so far. It is absent for a read-only copy of a database. */
  numberAllEvents?: NumberAllEvents
}

export type AuditOptions = {
  /** Continues an interrupted run. If there is none, or this version has other steps, a new run starts. */
  resume?: boolean
  /** Aborts when the client disconnects. The audit then ends within a second and can be resumed. */
  signal?: AbortSignal
  /** Called with the progress at the beginning and after each batch of rows. */
  onProgress?: (progress: { percent: number; step: string }) => void
}

/**
 * The audit works for at least this long before it checks whether other connections are busy, because this check costs
 * as much as a small batch of rows.
 */
const restAfterMs = 50
/** The longest pause of the audit. A longer pause would not reduce the load any further. */
const maxPauseMs = 500
const saveEveryMs = 1_000
/** How long to keep trying to get the lock. A connection that was just closed may hold the lock for a moment longer. */
const lockWithinMs = 2_000

/**
 * Runs all checks of the audit. Only one audit runs at a time.
 *
 * @param now for checks that depend on the time
 * @returns the result of each check, in plain words and without secrets
 * @throws DomainError 'conflict' while another audit runs; 'unavailable' when the client has disconnected or the
 *   database cannot be reached
 */
export function audit(deps: AuditDeps, now: Date, options: AuditOptions = {}): Promise<AuditResult> {
  const { database } = deps
  return database.dedicated(async client => {
    const connection = queryable(client)
    await lock(database, connection)
    try {
      await store.prepare(connection)
      const plan = planOf(deps, now)
      const keeper = await keptRun(database, plan.steps, options.resume ?? false)
      return await runSteps({ ...plan, keeper, connection, options })
    } finally {
      await store.unlock(connection).catch(() => {})
    }
  }, options.signal)
}

/**
 * Runs the same checks on a database that no process serves. It stores no result.
 *
 * @param connection a connection of its own, prepared by `store.prepare`
 */
export function proveCopy(
  deps: AuditDeps,
  connection: Queryable,
  now: Date,
  onProgress?: AuditOptions['onProgress'],
): Promise<AuditResult> {
  const plan = planOf(deps, now)
  const progress = newProgress(plan.steps)
  const keeper = { progress, save: async () => {}, finish: async () => {} }
  return runSteps({ ...plan, keeper, connection, options: { ...(onProgress && { onProgress }) } })
}

export const findLastAudits = ({ database }: Pick<AuditDeps, 'database'>) => store.findLastAudits(database)

/** The checks of every audit, in the order of the report. The checks of retention follow them. */
export const checksOfEachAudit: readonly Check[] = [
  booksCheck,
  sealedCheck,
  ...auditChecks,
  ...salesChecks,
  ...statementChecks,
  ...campaignChecks,
  reportSumsCheck,
  ...feedChecks,
  campaignEventsCheck,
  secretsCheck,
  tokenKeysCheck,
  auditLogCheck,
]

/** All checks in the order of the report, and the steps that perform them. */
function planOf(deps: AuditDeps, now: Date): { checks: Check[]; steps: Step[] } {
  const { sealing, webhooks, masterKeys, retention, numberAllEvents } = deps
  const kept = checksOfRetention(retention, now)
  return {
    checks: [...checksOfEachAudit, ...kept],
    steps: [
      sealedStep(sealing),
      ...orderSteps(now, within => [
        ...kept.flatMap(({ orders }) => orders?.(within) ?? []),
        confirmedEvents(within, numberAllEvents),
      ]),
      ...salesSteps,
      ...statementSteps(),
      ...campaignSteps(within => [
        ...kept.flatMap(({ campaigns }) => campaigns?.(within) ?? []),
        campaignEvents(within, numberAllEvents),
        campaignMovesOf02(within),
      ]),
      ...reportSteps,
      feedsStep,
      feedDaysStep,
      secretsStep(webhooks.sealer),
      tokenKeysStep(masterKeys),
      auditLogStep,
    ],
  }
}

async function lock(database: Database, connection: Queryable): Promise<void> {
  const giveUpAt = performance.now() + lockWithinMs
  while (!(await store.tryLock(connection))) {
    if (performance.now() < giveUpAt) {
      await wait(50)
      continue
    }
    const { unfinished } = await store.findLastAudits(database)
    const reached = unfinished
      ? `, has checked ${unfinished.percent} % and began at ${unfinished.startedAt.toISOString()}`
      : ''
    throw new DomainError('conflict', `An audit is already running${reached}: wait until it ends`)
  }
}

/** The progress of a run, and the functions that store it. */
type Keeper = { progress: AuditProgress; save(): Promise<void>; finish(result: AuditResult): Promise<void> }
type Work = { checks: Check[]; steps: Step[]; keeper: Keeper; connection: Queryable; options: AuditOptions }

async function runSteps({ checks, steps, keeper, connection, options }: Work): Promise<AuditResult> {
  const { progress } = keeper
  const share = await sharesOf(connection, steps)
  let savedAtMs = performance.now()
  let restedAtMs = performance.now()
  for (let step = steps[progress.step]; step; step = steps[progress.step]) {
    options.onProgress?.({ percent: progress.percent, step: step.name })
    const piece = await step.next(connection, progress.after)
    add(progress, piece)
    progress.percent = share(progress)
    if (piece.reached === null || performance.now() - savedAtMs > saveEveryMs) {
      await keeper.save()
      savedAtMs = performance.now()
    }
    const workedMs = performance.now() - restedAtMs
    if (workedMs < restAfterMs) continue
    if (await store.othersWork(connection)) await wait(Math.min(workedMs, maxPauseMs))
    restedAtMs = performance.now()
  }
  const result = resultOf(checks, progress)
  await keeper.finish(result)
  return result
}

async function keptRun(database: Database, steps: readonly Step[], resume: boolean): Promise<Keeper> {
  const { runId, progress } = await beginRun(database, steps, resume)
  return {
    progress,
    save: () => store.saveProgress(database, runId, progress),
    finish: result => store.finishRun(database, runId, result),
  }
}

const newProgress = (steps: readonly Step[]): AuditProgress => ({
  steps: steps.map(({ name }) => name),
  step: 0,
  after: null,
  rows: 0,
  found: {},
  counts: {},
  percent: 0,
})

async function beginRun(database: Database, steps: readonly Step[], resume: boolean): Promise<AuditRun> {
  const names = steps.map(({ name }) => name)
  const brokenOff = resume ? await store.findUnfinished(database) : null
  if (brokenOff && String(brokenOff.progress.steps) === String(names)) return brokenOff
  return store.insertRun(database, newProgress(steps))
}

/** Adds the result of one batch of rows to the progress, and moves on to the next batch or step. */
function add(progress: AuditProgress, { findings, counts, rows, reached }: Piece): void {
  addFindings(progress.found, findings)
  for (const [code, byName] of Object.entries(counts))
    for (const [name, value] of Object.entries(byName)) addCount(progress.counts, code, name, value)
  progress.after = reached
  progress.rows = reached ? progress.rows + rows : 0
  if (!reached) progress.step++
}

/** @returns a function that computes the progress in per cent, weighing each table by its size */
async function sharesOf(connection: Queryable, steps: readonly Step[]): Promise<(progress: AuditProgress) => number> {
  const sizes = await store.findSizes(connection, [...new Set(steps.map(({ table }) => table))])
  const weights = steps.map(({ table }) => 1 + (sizes.get(table)?.bytes ?? 0))
  const sum = (parts: readonly number[]) => parts.reduce((total, part) => total + part, 0)
  return ({ step, rows }) => {
    const part = Math.min(rows / (sizes.get(steps[step]?.table ?? '')?.rows ?? 1), 1)
    return Math.floor((100 * (sum(weights.slice(0, step)) + part * (weights[step] ?? 0))) / sum(weights))
  }
}

function resultOf(checks: readonly Check[], { found, counts }: AuditProgress): AuditResult {
  const results = checks.map(check => checkResult(check, found[check.code], counts[check.code] ?? {}))
  return { ok: results.every(({ ok }) => ok), checks: results }
}

function checkResult(
  { code, name, holds, params }: Check,
  found: Found | undefined,
  counts: Counts[string],
): CheckResult {
  if (!found) {
    const figures = params && Object.fromEntries(params.map(param => [param, counts[param] ?? 0]))
    const detail = holds.replace(/\{(\w+)\}/g, (_, figure) => String(figures?.[figure] ?? 0))
    return { code, name, ok: true, detail, ...(figures && { params: figures }) }
  }
  return { code, name, ok: false, detail: findingsText(found) }
}
