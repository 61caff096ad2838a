/**
 * Prometheus metrics, on a port of their own (`METRICS_PORT`). All labels come from closed lists: routes, codes,
 * outcomes.
 */
import { createServer, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { machineOffsetMs } from '../clock.ts'
import type { StockCount } from '../esim/sold/figures-store.ts'
import { type StockLevel, stockLevels } from '../esim/stock/desk.ts'
import { apiOf } from '../http/errors.ts'
import type { FailureLog } from './failure-log.ts'
import { addGauge, cached, timeLimited } from './metric-reads.ts'

export type Metrics = ReturnType<typeof createMetrics>

type Registers = Registry[]
type StockOfTariff = StockCount & { level: StockLevel }

/** The functions with which gauges read their values when Prometheus asks for them. */
type Sources = {
  pool(): { total: number; idle: number; waiting: number }
  countStock(): Promise<StockOfTariff[]>
  countHolders(): Promise<{ bank: string; reserved: number }[]>
  countWaiting(): Promise<{ rows: number; lagSeconds: number }>
  lateSeconds(): Promise<number>
  countFeedWaiting(): number
  countEndpoints(): Promise<{ enabled: number; failing: number; disabled: number; pending: number }>
  /** Logs reads that fail, and reads that succeed again. */
  log: FailureLog
}

const stockStates = ['free', 'reserved', 'sold', 'withdrawn'] as const
const labelsOf = ({ operatorCode, tariffCode }: StockCount) => ({ operator: operatorCode, tariff: tariffCode })

export function createMetrics(sources: Sources) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  addProcessGauges(registers, sources)
  addStockGauges(registers, sources)
  addEventGauges(registers, sources)
  return { registry, ...requestMetrics(registers), ...salesMetrics(registers), ...eventMetrics(registers) }
}

function counterOfOutcomes(registers: Registers, name: string, help: string): Counter<'outcome'> {
  return new Counter({ name, help, labelNames: ['outcome'], registers })
}

function requestMetrics(registers: Registers) {
  const requests = new Histogram({
    name: 'perkline_http_request_seconds',
    help: 'Time to answer, by route and status code',
    labelNames: ['method', 'route', 'code'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 12],
    registers,
  })
  const tokens = counterOfOutcomes(registers, 'perkline_token_requests_total', 'Requests for a token, by outcome')
  const rateLimited = new Counter({
    name: 'perkline_rate_limited_total',
    help: 'Requests that were answered 429, by API',
    labelNames: ['api'],
    registers,
  })
  return {
    token: (outcome: string) => tokens.inc({ outcome }),
    request(method: string, route: string, code: number, seconds: number) {
      requests.observe({ method, route, code: String(code) }, seconds)
      if (code === 429) rateLimited.inc({ api: apiOf(route) })
    },
  }
}

function salesMetrics(registers: Registers) {
  const reservations = counterOfOutcomes(registers, 'perkline_reservations_total', 'Requests to reserve, by outcome')
  const mails = counterOfOutcomes(registers, 'perkline_mail_total', 'E-mails of confirms, by outcome')
  const statements = new Counter({
    name: 'perkline_statements_closed_total',
    help: 'Daily statements that this process has closed',
    registers,
  })
  return {
    reservation: (outcome: string) => reservations.inc({ outcome }),
    mail: (outcome: string) => mails.inc({ outcome }),
    statementClosed: () => statements.inc(),
  }
}

function eventMetrics(registers: Registers) {
  const events = new Counter({
    name: 'perkline_events_total',
    help: 'Events that were numbered, by type, each in every feed that has it',
    labelNames: ['type'],
    registers,
  })
  const attempts = counterOfOutcomes(registers, 'perkline_webhook_attempts_total', 'Requests to endpoints, by outcome')
  const delays = new Histogram({
    name: 'perkline_webhook_delay_seconds',
    help: 'From the recording of an event to the 2xx of an endpoint',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3600, 86_400],
    registers,
  })
  return {
    attempt: (outcome: string) => attempts.inc({ outcome }),
    delivered: (seconds: number) => delays.observe(seconds),
    events(counts: Record<string, number>) {
      for (const [type, count] of Object.entries(counts)) events.inc({ type }, count)
    },
  }
}

function addProcessGauges(registers: Registers, sources: Sources): void {
  new Gauge({
    name: 'perkline_database_connections',
    help: 'Connections of this process’ pool, by state; waiting: requests without one',
    labelNames: ['state'],
    registers,
    collect() {
      const { total, idle, waiting } = sources.pool()
      this.set({ state: 'busy' }, total - idle)
      this.set({ state: 'idle' }, idle)
      this.set({ state: 'waiting' }, waiting)
    },
  })
  new Gauge({
    name: 'perkline_clock_offset_seconds',
    help: 'How far the clock of this machine is ahead of the database’s, which the rules use',
    registers,
    collect() {
      this.set(machineOffsetMs() / 1000)
    },
  })
}

/**
 * Adds the gauges of stock, live reservations and late statements. While the database is away, the gauges of stock and
 * reservations keep their last value for some minutes. An error must not make the whole page of metrics fail, because
 * the other metrics are then needed most.
 */
function addStockGauges(registers: Registers, sources: Sources): void {
  const countStock = cached('perkline_stock_level', sources.log, sources.countStock)
  const stockGauge = (name: string, help: string, label: string, set: (gauge: Gauge, tariff: StockOfTariff) => void) =>
    new Gauge({
      name,
      help,
      labelNames: ['operator', 'tariff', label],
      registers,
      async collect() {
        const tariffs = await countStock()
        this.reset()
        for (const tariff of tariffs ?? []) set(this, tariff)
      },
    })
  stockGauge('perkline_stock_profiles', 'Profiles, by tariff and state', 'state', (gauge, tariff) => {
    for (const state of stockStates) gauge.set({ ...labelsOf(tariff), state }, tariff[state])
  })
  const levelHelp = 'The level of a tariff at the stock desk: 1 for the one that it has'
  stockGauge('perkline_stock_level', levelHelp, 'level', (gauge, tariff) => {
    for (const level of stockLevels) gauge.set({ ...labelsOf(tariff), level }, Number(level === tariff.level))
  })
  const countHolders = cached('perkline_open_reservations', sources.log, sources.countHolders)
  new Gauge({
    name: 'perkline_open_reservations',
    help: 'Live reservations, by bank',
    labelNames: ['bank'],
    registers,
    async collect() {
      const holders = await countHolders()
      this.reset()
      for (const { bank, reserved } of holders ?? []) this.inc({ bank }, reserved)
    },
  })
  const lateHelp = 'Age of the oldest day that should be closed and is not; 0: none'
  addGauge(registers, { name: 'perkline_statements_late_seconds', help: lateHelp }, () => sources.lateSeconds())
}

function addEventGauges(registers: Registers, sources: Sources): void {
  // The two gauges share one read.
  const countWaiting = timeLimited(() => sources.countWaiting())
  const lagHelp = 'Age of the oldest change whose events are in no feed yet'
  addGauge(registers, { name: 'perkline_events_lag_seconds', help: lagHelp }, async () => {
    return (await countWaiting())?.lagSeconds ?? null
  })
  const waitingHelp = 'Statements whose events are in no feed yet, counted up to 10,000'
  addGauge(registers, { name: 'perkline_events_waiting', help: waitingHelp }, async () => {
    return (await countWaiting())?.rows ?? null
  })
  new Gauge({
    name: 'perkline_feed_waiting',
    help: 'Requests that wait for the next event of their account',
    registers,
    collect() {
      this.set(sources.countFeedWaiting())
    },
  })
  addEndpointGauges(registers, sources)
}

function addEndpointGauges(registers: Registers, sources: Sources): void {
  // The two gauges share one read.
  const countEndpoints = timeLimited(() => sources.countEndpoints())
  const pendingHelp = 'Deliveries to endpoints that are not finished'
  addGauge(registers, { name: 'perkline_webhook_pending', help: pendingHelp }, async () => {
    return (await countEndpoints())?.pending ?? null
  })
  new Gauge({
    name: 'perkline_webhook_endpoints',
    help: 'Endpoints, by status; failing: enabled, and every attempt fails',
    labelNames: ['status'],
    registers,
    async collect() {
      const counts = await countEndpoints().catch(() => null)
      this.reset()
      if (counts === null) return
      const { pending: _, ...byStatus } = counts
      for (const [status, count] of Object.entries(byStatus)) this.set({ status }, count)
    },
  })
}

/** Measures the time of every request by its route, never by its path, which may contain ids. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    metrics.request(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
}

/**
 * Serves `/metrics` for the lifetime of the process.
 *
 * @returns the listening server
 * @throws Error with a message for the operator when it can't listen
 */
export async function serveMetrics(metrics: Metrics, address: { host: string; port: number }): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end()
    metrics.registry.metrics().then(
      text => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => response.writeHead(503).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) =>
      reject(new Error(`The metrics can't be served (${message}): set METRICS_PORT and METRICS_HOST`)),
    )
    server.listen(address.port, address.host, resolve)
  })
  return server
}
