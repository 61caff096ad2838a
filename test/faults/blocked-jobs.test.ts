/**
 * A lock of somebody else blocks a job that only one process runs at a time. The log and the metrics of all processes
 * report this (contract/production.md, "Metrics", and docs/runbook.md, "PerklineJobLate").
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { eventually } from '../support/patroni.ts'
import { processesOnServer } from '../support/served.ts'

const { onServer, start } = processesOnServer()
/** How long the lock is held: several attempts of a job fail meanwhile, because each waits three seconds for the lock. */
const blockedMs = 12_000
/** The jobs that read `event_ticks`. */
const jobs = ['sequence-events', 'chain-audit-log', 'make-statement-lines', 'fold-sales']

test('no process reports a success of a job that fails in each process that does it', async t => {
  const database = await createTestDatabase()
  t.after(() => database.close())
  const startOne = async () => {
    const metricsPort = String(await freePort())
    const run = await start(t, ['serve'], { ...onServer(database.url), METRICS_PORT: metricsPort })
    await run.ready()
    const successes = async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      return jobs.map(job => {
        const found = new RegExp(`^perkline_job_last_success_seconds\\{job="${job}"\\} (\\S+)$`, 'm').exec(text)
        return Number(found?.[1])
      })
    }
    const lines = (text: string) =>
      run
        .stdout()
        .split('\n')
        .filter(line => line.includes(text))
        .map(line => String(JSON.parse(line).job))
        .filter(job => jobs.includes(job))
    return {
      successes,
      failures: () => lines('a job failed and is tried again'),
      recoveries: () => lines('a job that had failed works again'),
    }
  }
  const processes = [await startOne(), await startOne()]
  const successes = () => Promise.all(processes.map(each => each.successes()))

  const failed = await database.database.dedicated(async client => {
    await client.query('begin; lock table event_ticks in access exclusive mode')
    // Waits until the metrics include a run that ended just before the lock was taken.
    await sleep(500)
    const before = await successes()
    await sleep(blockedMs)
    assert.deepEqual(await successes(), before, 'the metrics show no success')
    for (const each of processes) assert.deepEqual(each.recoveries(), [], 'no success is logged')
    const told = processes.map(each => each.failures().toSorted())
    await client.query('rollback')
    return told
  })
  assert.ok(failed.flat().includes('sequence-events'), 'a failure is logged')
  for (const ofOne of failed) assert.deepEqual(ofOne, [...new Set(ofOne)], 'once for each job')

  await eventually(
    'each process logs once that its jobs work again',
    async () => processes.every((each, n) => each.recoveries().length === failed[n]?.length),
    30_000,
  )
})
