/**
 * Metrics of the process (its version, whether it is ready, its jobs, requests that wait) and of the platform's state:
 * the last audit, missing migrations, overdue reservations, and campaigns by status.
 */
import process from 'node:process'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { campaignStatuses } from '../campaigns/lifecycle/transitions.ts'
import { realMs } from '../clock.ts'
import type { Instance } from '../config.ts'
import type { AuditState } from '../upkeep/state-store.ts'
import { version } from '../version.ts'
import { countWaiting } from '../work/concurrency-limit.ts'
import type { FailureLog } from './failure-log.ts'
import { addGauge, cached } from './metric-reads.ts'

/** The functions with which gauges read their values when Prometheus asks for them. */
type Sources = {
  instance: Instance
  isReady(): Promise<boolean>
  servesPartners: boolean
  countPending(): Promise<number>
  findAudit(): Promise<AuditState | null>
  countLapsed(): Promise<number>
  countCampaigns(): Promise<{ status: string; campaigns: number }[]>
  sharesLimits(): boolean
  /** Logs reads that fail, and reads that succeed again. */
  log: FailureLog
}

export function createProcessMetrics(registry: Registry, sources: Sources) {
  const registers = [registry]
  addBuildInfo(registry, sources.instance)
  addStateGauges(registers, sources)
  addCountGauges(registers, sources)
  const recoveries = new Counter({
    name: 'perkline_database_recovery_total',
    help: 'Attempts to reach a database that was lost',
    registers,
  })
  let anchoredAtMs: number | null = null
  const anchorHelp =
    'When this process last appended a checkpoint to AUDIT_ANCHOR_FILE, or started to make them (Unix time)'
  addGauge(registers, { name: 'perkline_audit_anchor_written_seconds', help: anchorHelp }, async () =>
    anchoredAtMs === null ? null : anchoredAtMs / 1_000,
  )
  const anchorFailures = new Counter({
    name: 'perkline_audit_anchor_failures_total',
    help: 'Checkpoints that this process could not append to AUDIT_ANCHOR_FILE',
    registers,
  })
  return {
    recovery: () => recoveries.inc(),
    anchored() {
      anchoredAtMs = realMs()
    },
    anchorFailed: () => anchorFailures.inc(),
    ...jobMetrics(registers),
  }
}

function addBuildInfo(registry: Registry, instance: Instance): void {
  // Prometheus labels each process with its address. If the settings give a name, use the name as the label instead.
  if (instance.isGiven) registry.setDefaultLabels({ instance: instance.name })
  new Gauge({
    name: 'perkline_build_info',
    help: 'Always 1; its labels contain the version and the process',
    labelNames: ['version', 'node', 'instance'],
    registers: [registry],
  }).set({ version, node: process.version, instance: instance.name }, 1)
}

function addStateGauges(registers: Registry[], sources: Sources): void {
  const gauge = (name: string, help: string, read: () => Promise<number | null>) =>
    addGauge(registers, { name, help }, read)
  const isReady = { name: 'perkline_ready', help: '1: it takes requests; 0: it stops, or the database is away' }
  addGauge(registers, { ...isReady, withoutAnswer: 0 }, async () => Number(await sources.isReady()))
  gauge(
    'perkline_serves_partners',
    '1: it is started with services of banks, merchants or their people; 0: only with the worker or the operator’s',
    async () => Number(sources.servesPartners),
  )
  const pending = cached('perkline_schema_pending', sources.log, sources.countPending)
  gauge('perkline_schema_pending', 'Migrations of this version that the database lacks', pending)
  gauge(
    'perkline_lapsed_reservations',
    'Reservations that are over and not yet written down, counted up to 10,000; no answer depends on it',
    cached('perkline_lapsed_reservations', sources.log, sources.countLapsed),
  )
  const findAudit = cached('perkline_audit_ok', sources.log, sources.findAudit)
  gauge('perkline_audit_ok', '1: the last audit found every record in order; 0: it did not', async () => {
    const { ok = null } = (await findAudit()) ?? {}
    return ok === null ? null : Number(ok)
  })
  gauge(
    'perkline_audit_last_seconds',
    'When the last audit ended, or the database was first used (Unix time)',
    async () => secondsOf((await findAudit())?.at),
  )
  gauge(
    'perkline_shared_limits_available',
    '1: limits are shared through Redis; 0: each process limits by itself',
    async () => Number(sources.sharesLimits()),
  )
}

function addCountGauges(registers: Registry[], sources: Sources): void {
  const countCampaigns = cached('perkline_campaigns', sources.log, sources.countCampaigns)
  new Gauge({
    name: 'perkline_campaigns',
    help: 'Campaigns of all merchants, by status',
    labelNames: ['status'],
    registers,
    async collect() {
      const counted = await countCampaigns()
      if (counted === null) return this.reset()
      const counts = new Map(counted.map(({ status, campaigns }) => [status, campaigns]))
      for (const status of campaignStatuses) this.set({ status }, counts.get(status) ?? 0)
    },
  })
  new Gauge({
    name: 'perkline_turns_waiting',
    help: 'Requests that wait for their turn, by what they wait for',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, waiting] of countWaiting()) this.set({ kind }, waiting)
    },
  })
}

function jobMetrics(registers: Registry[]) {
  const labelNames = ['job'] as const
  const interval = new Gauge({
    name: 'perkline_job_interval_seconds',
    help: 'How often a job begins',
    labelNames,
    registers,
  })
  const lastSuccess = new Gauge({
    name: 'perkline_job_last_success_seconds',
    help: 'When a job of this process last succeeded, or was started for the first time (Unix time)',
    labelNames,
    registers,
  })
  const duration = new Histogram({
    name: 'perkline_job_duration_seconds',
    help: 'How long the runs of a job took',
    labelNames,
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers,
  })
  return {
    /** Makes the metrics show a job even before its first run has ended. */
    jobStarts(job: string, everyMs: number) {
      interval.set({ job }, everyMs / 1_000)
      lastSuccess.set({ job }, realMs() / 1_000)
    },
    jobSucceeds(job: string, seconds: number) {
      lastSuccess.set({ job }, realMs() / 1_000)
      duration.observe({ job }, seconds)
    },
  }
}

const secondsOf = (at: Date | undefined): number | null => (at ? at.getTime() / 1_000 : null)
