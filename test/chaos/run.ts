/**
 * `npm run chaos [-- SECONDS [NAME...]]` runs the experiments of contract/reliability.md in their long forms, each for
 * this many seconds (default: 60): `sales`, `grown` and `disk`, or the named ones. The short forms are in
 * order-races.test.ts, stock-races.test.ts, faults.test.ts and full-disk.test.ts.
 *
 * These run only when they are named. `soak` looks for anything that grows without end, for an hour or the given
 * seconds. `ha` makes servers and networks of a Patroni cluster fail, some of them once a minute. `alerts` checks with
 * Prometheus that alerts fire, `every-alert` all of them in shortened time. `upgrade` rolls releases out and back.
 * `events` follows feeds and receives webhooks while processes are killed and transactions commit late; its counts are
 * fixed. `statements` counts again what was sold while processes are killed, and reads a list for ten minutes. `keys`
 * repeats requests with an Idempotency-Key at processes that are killed. `install` walks through docs/install.md in an empty
 * Debian under systemd, `ha-install` through docs/high-availability.md in three. `image` builds the container image
 * twice and runs it. `archive` loses a machine and restores it.
 */
import { spawn } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const all = ['sales', 'grown', 'disk']
const known = [
  ...all,
  'install',
  'ha-install',
  'image',
  'archive',
  'ha',
  'alerts',
  'every-alert',
  'upgrade',
  'events',
  'statements',
  'keys',
  'soak',
]
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
// The experiments run one after the other, so that each has the machine for itself.
const child = spawn(
  process.execPath,
  ['--test', '--test-concurrency=1', `--test-timeout=${(seconds + 3_600) * 1_000}`, ...files],
  {
    stdio: 'inherit',
    env: { ...process.env, CHAOS_SECONDS: String(seconds) },
  },
)
child.once('exit', code => process.exit(code ?? 1))
