/** The primary's machine dies again and again under sales (contract/production.md, "High availability", H1). */
import process from 'node:process'
import { test } from 'node:test'
import { surviveDeaths } from '../support/failover.ts'
import { requireProgram } from '../support/require-program.ts'

/** A death and the way back take about a minute. */
const deaths = Math.max(1, Math.round(Number(process.env.CHAOS_SECONDS ?? 60) / 60))

test(`the primary is killed ${deaths} times`, async t => {
  if (!requireProgram(t, 'patroni') || !requireProgram(t, 'etcd') || !requireProgram(t, 'haproxy')) return
  t.diagnostic(JSON.stringify(await surviveDeaths(deaths)))
})
