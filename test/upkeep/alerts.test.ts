/**
 * Alerts and dashboards (contract/production.md, "Alerts"): each rule fires and stays silent as it should, and uses
 * only existing metrics.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { startPlatform } from '../support/platform.ts'
import { requireProgram } from '../support/require-program.ts'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../deploy/monitoring/', import.meta.url))
const read = (name: string): string => readFileSync(`${folder}${name}`, 'utf8')

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }
const rules: Rule[] = parse(read('alerts.yml')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules)
const testFiles = ['alerts.test.yml', 'alerts.slow.test.yml']

type Panel = { title: string; fieldConfig: { defaults: { unit?: string } }; targets: { expr: string }[] }
type Dashboard = { uid: string; title: string; panels: Panel[]; templating: { list: { name: string }[] } }
const dashboards: Dashboard[] = readdirSync(`${folder}dashboards`).map(name => JSON.parse(read(`dashboards/${name}`)))

test('promtool takes the rules', async t => {
  if (!requireProgram(t, 'promtool')) return
  const { stdout } = await run('promtool', ['check', 'rules', 'alerts.yml'], { cwd: folder })
  assert.match(stdout, new RegExp(`${rules.length} rules found`))
})

for (const file of testFiles)
  test(`each case of ${file} comes out as it says`, async t => {
    if (!requireProgram(t, 'promtool')) return
    const { stdout } = await run('promtool', ['test', 'rules', file], { cwd: folder })
    assert.match(stdout, /SUCCESS/)
  })

test('each alert has a case that fires and one that stays silent', () => {
  const names = testFiles.flatMap(file =>
    // Takes the part before a colon: after it, the name may say what is special about the case.
    parse(read(file)).tests.map(({ name }: { name: string }) => name.split(':', 1)[0] ?? ''),
  )
  const expected = rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} stays silent`])
  assert.deepEqual([...new Set(names)].sort(), expected.sort())
})

test('each alert says what it is, with its figure, how urgent it is, and where the runbook tells of it', () => {
  const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8')
  const headings = [...runbook.matchAll(/^#{2,3} (.+)$/gm)].map(([, heading = '']) => heading)
  for (const { alert, labels, annotations } of rules) {
    assert.ok(['page', 'ticket'].includes(labels.severity), alert)
    assert.ok(annotations.summary, alert)
    assert.match(annotations.description ?? '', /\{\{ \$value/, alert)
    assert.ok(annotations.runbook_url?.endsWith(`/docs/runbook.md#${alert.toLowerCase()}`), alert)
    assert.ok(headings.includes(alert), `the runbook has no part on ${alert}`)
    const part = runbook.split(`### ${alert}\n`)[1]?.split('\n##')[0] ?? ''
    for (const word of ['For banks', 'See', 'Do', 'Call', 'Over'])
      assert.match(part, new RegExp(`\\*\\*${word}\\*\\*`), `${alert}: ${word}`)
  }
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
})

/** Metrics of other programs: node exporter, Patroni, blackbox exporter, and the text file of the backup drill. */
const ofOthers =
  /^(?:node_filesystem_(?:(?:avail|size)_bytes|readonly)|probe_success|patroni_sync_standby|patroni_postgres_running|probe_ssl_earliest_cert_expiry|perkline_backup_verified_timestamp_seconds)$/

const namesIn = (expr: string): string[] =>
  expr
    .replaceAll(/"[^"]*"/g, '""')
    .match(/\b(?:perkline|process|nodejs|node|patroni|pg|probe)_[a-z0-9_]+\b/g)
    ?.map(name => name.replace(/_(?:bucket|count|sum)$/, '')) ?? []

test('every metric that rules and dashboards ask for is served by a platform', async () => {
  const platform = await startPlatform()
  try {
    const text = await platform.platform.metrics.registry.metrics()
    const served = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name))
    const asked = [
      ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
      ...dashboards.flatMap(({ title, panels }) =>
        panels.flatMap(panel => panel.targets.map(({ expr }) => ({ where: `${title}: ${panel.title}`, expr }))),
      ),
    ]
    const missing = asked.flatMap(({ where, expr }) =>
      namesIn(expr).flatMap(name => (served.has(name) || ofOthers.test(name) ? [] : `${where}: ${name}`)),
    )
    assert.deepEqual(missing, [])
  } finally {
    await platform.close()
  }
})

test('the overview shows each API of partners, people and the operator, once in each panel', () => {
  const overview = dashboards.find(({ uid }) => uid === 'perkline-overview') ?? assert.fail('no overview')
  const operations = readdirSync(new URL('../../docs/openapi/', import.meta.url)).flatMap(name =>
    Object.keys(JSON.parse(readFileSync(new URL(`../../docs/openapi/${name}`, import.meta.url), 'utf8')).paths),
  )
  const paths = operations.filter(path => !/^\/(?:sandbox|health|\.well-known)/.test(path))
  const byRoute = overview.panels.filter(({ targets }) => targets.some(({ expr }) => expr.includes('route=~')))
  assert.equal(byRoute.length, 4)
  for (const { title, targets } of byRoute) {
    const routes = targets.map(({ expr }) => new RegExp(`^(?:${/route=~"([^"]*)"/.exec(expr)?.[1]})$`))
    assert.deepEqual(
      paths.filter(path => routes.filter(route => route.test(path)).length !== 1),
      [],
      title,
    )
  }
})

test('the dashboard of campaigns counts every method that changes one', () => {
  const document = JSON.parse(readFileSync(new URL('../../docs/openapi/perkline.json', import.meta.url), 'utf8'))
  const methods = Object.entries<object>(document.paths).flatMap(([path, item]) =>
    /^\/(?:cashbacks|portal\/cashbacks)/.test(path) ? Object.keys(item) : [],
  )
  const changing = new Set(
    methods.map(method => method.toUpperCase()).filter(method => /^(?:POST|PUT|PATCH|DELETE)$/.test(method)),
  )
  const campaigns = dashboards.find(({ uid }) => uid === 'perkline-campaigns')
  const expr = campaigns?.panels.find(({ title }) => title === 'Decisions and edits')?.targets[0]?.expr ?? ''
  const counted = /method=~"([A-Z|]*)"/.exec(expr)?.[1]?.split('|') ?? []
  assert.deepEqual(
    [...changing].filter(method => !counted.includes(method)),
    [],
  )
})

test('the printed configuration of Prometheus keeps the label `instance` that each process gives itself', () => {
  const page = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')
  const printed = /prometheus\.yml <<YAML\n([\s\S]*?)^YAML$/m.exec(page)?.[1] ?? ''
  const scraped = parse(printed).scrape_configs as { job_name: string; honor_labels?: boolean }[]
  assert.deepEqual(
    scraped.filter(({ job_name }) => job_name === 'perkline').map(({ honor_labels }) => honor_labels),
    [true],
  )
})

test('each dashboard can be narrowed to instances, and each panel has a unit', () => {
  assert.deepEqual(dashboards.map(({ uid }) => uid.replace('perkline-', '')).sort(), [
    'campaigns',
    'database',
    'esim',
    'events',
    'overview',
  ])
  for (const { title, panels, templating } of dashboards) {
    assert.deepEqual(
      templating.list.map(({ name }) => name),
      ['datasource', 'instance'],
      title,
    )
    for (const panel of panels) assert.ok(panel.fieldConfig.defaults.unit, `${title}: ${panel.title}`)
  }
})
