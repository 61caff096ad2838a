/**
 * The primary's machine dies during sales (contract/production.md, "High availability"); `npm run chaos -- ha` repeats
 * this.
 */
import { test } from 'node:test'
import { surviveDeaths } from '../support/failover.ts'
import { requireProgram } from '../support/require-program.ts'

test('the primary is killed: 503 only, nothing acknowledged is lost, and sales go on within 30 seconds', async t => {
  if (!requireProgram(t, 'patroni') || !requireProgram(t, 'etcd') || !requireProgram(t, 'haproxy')) return
  const figures = await surviveDeaths(1, 'machine')
  t.diagnostic(JSON.stringify(figures))
})
