/**
 * `npm run bench [-- NAME...] [-- --quick]` starts what it needs, measures, prints a table and writes `bench/results`.
 * The case `scale` compares a large generated database (world) with a small one. `--orders`, `--profiles`,
 * `--campaigns`, `--banks` and `--share` set the sizes of the large world. `--times` says how many times fewer orders
 * the small world has. `--keep FOLDER` keeps both databases there for the next run. `--parts a,b` chooses parts of a
 * case. The compared sides alternate in one run, and only their ratios count, because other programs on the machine
 * change the times.
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Bench, Case } from './bench.ts'
import { auditLogCase } from './cases/audit-log.ts'
import { bankConfirmCase } from './cases/bank-confirm.ts'
import { bankListCase } from './cases/bank-list.ts'
import { clockCase } from './cases/clock.ts'
import { eventsCase } from './cases/events.ts'
import { flatnessCase } from './cases/flatness.ts'
import { importCase } from './cases/import.ts'
import { merchantListCase } from './cases/merchant-list.ts'
import { neighboursCase } from './cases/neighbours.ts'
import { peerCase } from './cases/peer.ts'
import { peopleCase } from './cases/people.ts'
import { processesCase } from './cases/processes.ts'
import { qrCase } from './cases/qr.ts'
import { readsCase } from './cases/reads.ts'
import { reconciliationCase } from './cases/reconciliation.ts'
import { reserveCase } from './cases/reserve.ts'
import { scaleCase } from './cases/scale.ts'
import { segmentCase } from './cases/segment.ts'
import { startCase } from './cases/start.ts'
import { statementsCase } from './cases/statements.ts'
import { tokensCase } from './cases/tokens.ts'
import { startDatabaseServer } from './database.ts'
import { busyPercent, describeMachine } from './machine.ts'
import { type Outcome, textTable, writeReport } from './report.ts'
import { type Sizes, sizeNames, usualShare } from './scale/sizes.ts'
import { makeWorld, type World } from './world.ts'

const cases: readonly Case[] = [
  reserveCase,
  flatnessCase,
  processesCase,
  peerCase,
  readsCase,
  statementsCase,
  eventsCase,
  auditLogCase,
  peopleCase,
  qrCase,
  tokensCase,
  importCase,
  bankListCase,
  bankConfirmCase,
  merchantListCase,
  clockCase,
  segmentCase,
  neighboursCase,
  reconciliationCase,
  startCase,
  scaleCase,
]

const results = fileURLToPath(new URL('./results', import.meta.url))
const say = (line: string) => process.stderr.write(`${line}\n`)

async function runCase({ name, run }: Case, bench: Bench): Promise<Outcome> {
  const busy = await busyPercent()
  const start = performance.now()
  say(`${name} ...`)
  const finished = await run(bench).then(
    figures => ({ figures, error: null }),
    (error: Error) => ({ figures: [], error: error.message }),
  )
  const seconds = Math.round((performance.now() - start) / 1000)
  const outcome = { name, ...finished, seconds, busyPercent: busy }
  say(textTable([outcome]))
  return outcome
}

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    parts: { type: 'string', default: '' },
    keep: { type: 'string' },
    times: { type: 'string', default: '20' },
    ...(Object.fromEntries(sizeNames.map(name => [name, { type: 'string' }])) as Record<
      keyof Sizes,
      { type: 'string' }
    >),
  },
  allowPositionals: true,
})
const unknown = positionals.filter(name => !cases.some(known => known.name === name))
if (unknown.length > 0) {
  say(`There is no benchmark ${unknown.join(', ')}; there are: ${cases.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const chosen = cases.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const { quick } = values

const usual: Sizes = quick
  ? { orders: 20_000, profiles: 30_000, campaigns: 2_000, banks: 20, share: usualShare }
  : { orders: 1_000_000, profiles: 1_500_000, campaigns: 20_000, banks: 200, share: usualShare }
const sizes = Object.fromEntries(sizeNames.map(name => [name, Number(values[name] ?? usual[name])])) as Sizes

const folder = values.keep ?? (await mkdtemp(join(tmpdir(), 'perkline-bench-')))
await mkdir(folder, { recursive: true })
await chmod(folder, 0o711)
const server = await startDatabaseServer(folder)
const outcomes: Outcome[] = []
try {
  let made: Promise<World> | null = null
  const world = () => {
    made ??= makeWorld(server, quick ? 150_000 : 1_400_000)
    return made
  }
  const times = Number(values.times)
  const parts = values.parts.split(',').filter(part => part !== '')
  const bench: Bench = {
    server,
    folder,
    quick,
    rounds: quick ? 1 : 7,
    seconds: 2,
    world,
    sizes,
    times,
    parts,
    tell: say,
  }
  for (const one of chosen) outcomes.push(await runCase(one, bench))
  const machine = describeMachine({ postgres: server.version })
  process.stdout.write(`\n${textTable(outcomes)}\n`)
  // A run of only some cases must not replace the results of a run of all cases.
  if (chosen.length === cases.length) writeReport(results, { machine, quick, outcomes })
} finally {
  await server.stop()
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true })
}
const missed = outcomes.some(({ figures, error }) => error !== null || figures.some(({ pass }) => pass === false))
process.exitCode = missed ? 1 : 0
