/**
 * `npm run chaos [-- SECONDS]`: the experiments of reliability.md in their long forms, each for this many seconds (60 without). The
 * short forms are in races.test.ts and faults.test.ts.
 */
import { spawn } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const seconds = Number(process.argv[2] ?? 60)
if (!(seconds >= 5)) {
  process.stderr.write('usage: node test/chaos/run.ts [SECONDS, at least 5]\n')
  process.exit(2)
}
const file = fileURLToPath(new URL('./sales.chaos.ts', import.meta.url))
const child = spawn(process.execPath, ['--test', '--test-timeout=3600000', file], {
  stdio: 'inherit',
  env: { ...process.env, CHAOS_SECONDS: String(seconds) },
})
child.once('exit', code => process.exit(code ?? 1))
