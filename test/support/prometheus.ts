/**
 * Runs a real Prometheus that reads the metrics of platform processes and uses the given rules. Also serves a page of
 * metrics in place of other exporters.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freePort } from './free-port.ts'

type Alert = { name: string; severity: string; labels: Record<string, string> }
export type Prometheus = {
  /** The alerts that fire now; null while Prometheus does not answer. */
  firing(): Promise<Alert[] | null>
}

/**
 * Starts a Prometheus that reads metrics every three seconds and checks its rules each second. A shorter time is not
 * possible, because a process whose database is silent needs two seconds to answer.
 * @param options.rules path of a rule file
 * @param options.targets ports of 127.0.0.1
 * @param options.history earlier metrics, in OpenMetrics' format with times
 */
export async function startPrometheus(
  t: TestContext,
  options: { rules: string; targets: readonly number[]; history?: string },
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-prometheus-'))
  const port = await freePort()
  const targets = options.targets.map(target => `127.0.0.1:${target}`)
  const config = {
    global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '1s' },
    rule_files: [options.rules],
    scrape_configs: [{ job_name: 'perkline', honor_labels: true, static_configs: [{ targets }] }],
  }
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config))
  if (options.history !== undefined) await remember(folder, options.history)
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  t.after(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  })
  return { firing: () => askFiring(`http://127.0.0.1:${port}/api/v1/alerts`) }
}

async function remember(folder: string, history: string): Promise<void> {
  const file = join(folder, 'history.txt')
  await writeFile(file, history)
  execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', file, join(folder, 'data')], {
    stdio: 'ignore',
  })
}

async function askFiring(url: string): Promise<Alert[] | null> {
  const answer = await fetch(url).catch(() => null)
  if (!answer?.ok) return null
  const { data } = (await answer.json()) as { data: { alerts: { state: string; labels: Record<string, string> }[] } }
  return data.alerts
    .filter(({ state }) => state === 'firing')
    .map(({ labels }) => ({ name: labels.alertname ?? '', severity: labels.severity ?? '', labels }))
}

/** Serves metrics like other exporters. Each series is a function that returns its present value. */
export async function startMetricsPage(t: TestContext, series: Record<string, () => number>) {
  const server = createServer((_, response) => {
    const lines = Object.entries(series).map(([name, read]) => `${name} ${read()}\n`)
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(lines.join(''))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * Returns the rules with shorter times: each window, each `offset` and each `for` is divided by one factor. Other
 * numbers in expressions stay as they are.
 * @param own other factors for single alerts
 */
export function quickened(rules: string, factor: number, own: Record<string, number> = {}): string {
  return rules
    .split(/(?=- alert: )/)
    .map(rule => quickenedOne(rule, own[/^- alert: (\w+)/.exec(rule)?.[1] ?? ''] ?? factor))
    .join('')
}

function quickenedOne(rule: string, factor: number): string {
  const shorter = (_: string, before: string, count: string, unit: string): string =>
    `${before}${Math.round((Number(count) * (unitMs[unit] ?? 0)) / factor)}ms`
  return rule.replaceAll(/(\[|\boffset |\bfor: )(\d+)([smhdw])\b/g, shorter)
}
