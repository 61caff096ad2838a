/**
 * The audit log when the primary's machine dies (contract/audit-log.md, "The chain"): the chain stays correct and
 * continues on the standby.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/db/database.ts'
import { eventually, startPatroni } from '../support/patroni.ts'
import { type PerklineProcess, sharedSettings, startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'
import { openShop } from '../support/world.ts'

const writers = 8
const goesOnWithinMs = 90_000

/** Issues credentials until it is told to stop. */
function startWriting(platform: PerklineProcess, token: string) {
  const acknowledged: { clientId: string; atMs: number }[] = []
  let [isOver, away] = [false, 0]
  const write = async () => {
    while (!isOver) {
      const body = { bank: 'alpha', role: 'VIEWER', label: 'writer' }
      const { status, body: issued } = await platform.call('POST', '/admin/credentials', { token, body })
      assert.ok(status === 201 || status === 503, `an answer with ${status}`)
      if (status === 201) acknowledged.push({ clientId: issued.clientId, atMs: performance.now() })
      else away++
      await sleep(status === 201 ? 40 : 500)
    }
  }
  const writing = Promise.all(Array.from({ length: writers }, write))
  return {
    acknowledged,
    async stop(): Promise<number> {
      isOver = true
      await writing
      return away
    },
  }
}

test('the primary is killed while 8 write: one chain, with each change that is there once', async t => {
  for (const program of ['patroni', 'etcd', 'haproxy']) if (!requireProgram(t, program)) return
  const folder = await mkdtemp(join(tmpdir(), 'perkline-audit-failover-'))
  const cluster = await startPatroni()
  try {
    const shared = sharedSettings(cluster.databaseUrl, folder)
    const platform = await startProcess({ ...shared, LOG_LEVEL: 'fatal', DATABASE_POOL: '6' })
    const database = openDatabase({ connection: { connectionString: cluster.databaseUrl }, poolSize: 1 })
    await openShop(platform, { profiles: 1, seed: 8_200 })
    const writing = startWriting(platform, shared.OPERATOR_KEY ?? '')
    try {
      await sleep(2_000)
      const { seq: before } = await platform.admin('POST', '/audit-log/checkpoint')
      await sleep(500)
      const killedAtMs = performance.now()
      await cluster.kill(await cluster.primary())
      const isGoingOn = () => writing.acknowledged.some(({ atMs }) => atMs > killedAtMs + 1_000)
      await eventually('entries are written again', isGoingOn, goesOnWithinMs)
      await sleep(2_000)
      const away = await writing.stop()
      await sleep(2_500)
      const verified = await platform.admin('POST', '/audit-log/verify', {})
      assert.deepEqual([verified.ok, verified.fault], [true, null])
      assert.ok(verified.checkedUntil.seq > before)
      const there = await database.query<{ id: string; entries: number }>(
        `select c.client_id as id, count(l.seq)::int as entries from credentials c left join audit_log l
           on l.entry::jsonb ->> 'action' = 'credential.issued' and l.entry::jsonb #>> '{object,id}' = c.client_id
         where c.label = 'writer' group by 1`,
      )
      assert.deepEqual(
        there.filter(({ entries }) => entries !== 1),
        [],
      )
      const known = new Set(there.map(({ id }) => id))
      assert.deepEqual(
        writing.acknowledged.filter(({ clientId }) => !known.has(clientId)),
        [],
      )
      const orphans = await database.query(
        `select seq from audit_log where entry::jsonb ->> 'action' = 'credential.issued'
           and not exists (select from credentials where client_id = entry::jsonb #>> '{object,id}')`,
      )
      assert.deepEqual(orphans, [])
      t.diagnostic(`${writing.acknowledged.length} acknowledged, ${there.length} there, ${away} refused`)
    } finally {
      await writing.stop()
      await database.close()
      await platform.kill()
    }
  } finally {
    await cluster.close()
    await rm(folder, { recursive: true, force: true })
  }
})
