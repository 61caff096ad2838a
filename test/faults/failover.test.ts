/**
 * The primary's machine dies during sales, and its standbys have not received all that it wrote (contract/production.md, "High
 * availability"); `npm run chaos -- ha` repeats this.
 */
import { test } from 'node:test'
import { surviveDeaths } from '../support/failover.ts'
import { requireProgram } from '../support/require-program.ts'

test('the primary is killed: 503 only, nothing acknowledged is lost, and sales go on', async t => {
  if (!requireProgram(t, 'patroni') || !requireProgram(t, 'etcd') || !requireProgram(t, 'haproxy')) return
  // The limit is twice the promised time, because other tests run on the same machine. `npm run chaos -- ha` allows 30 s.
  const figures = await surviveDeaths(1, 'machine', { recoverWithinMs: 60_000, isAhead: true })
  t.diagnostic(JSON.stringify(figures))
})
