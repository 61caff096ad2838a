/**
 * `npm run chaos [-- SECONDS [NAME...]]`: the experiments of contract/reliability.md in their long forms, each for this many seconds (60
 * without): `sales`, `grown` and `disk`, or those that are named. The short forms are in races.test.ts, faults.test.ts and
 * full-disk.test.ts. `soak`, only when it is named, looks for what grows without end: for an hour, or these seconds;
 * `ha`, only when it is named, lets servers and networks of a Patroni cluster fail, some of it once a minute;
 * `alerts` lets a Prometheus see alerts fire.
 */
import { spawn } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const all = ['sales', 'grown', 'disk']
const known = [...all, 'ha', 'alerts', 'soak']
const asked = process.argv.slice(2)
const given = /^\d/.test(asked[0] ?? '') ? asked.shift() : undefined
const named = asked
const seconds = Number(given ?? (named.includes('soak') ? 3_600 : 60))
const unknown = named.filter(name => !known.includes(name))
if (!(seconds >= 5) || unknown.length > 0) {
  process.stderr.write(`usage: node test/chaos/run.ts [SECONDS, at least 5] [${known.join('|')}...]\n`)
  process.exit(2)
}
const files = (named.length > 0 ? named : all).map(name =>
  fileURLToPath(new URL(`./${name}.chaos.ts`, import.meta.url)),
)
// One after the other: each has the machine for itself.
const child = spawn(
  process.execPath,
  ['--test', '--test-concurrency=1', `--test-timeout=${(seconds + 3_600) * 1_000}`, ...files],
  {
    stdio: 'inherit',
    env: { ...process.env, CHAOS_SECONDS: String(seconds) },
  },
)
child.once('exit', code => process.exit(code ?? 1))
