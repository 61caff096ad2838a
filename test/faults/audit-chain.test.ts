/**
 * The audit log while many processes write and its workers are killed; then it is dumped and restored
 * (contract/audit-log.md, "The chain").
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertChained, chained } from '../support/audit-log.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type PerklineProcess, startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'

const writers = 64
const kills = 4
const killEveryMs = 3_000

let platform: TestPlatform
let folder: string
before(async () => {
  // This process writes entries, but does not chain them.
  platform = await startPlatform({ PERKLINE_MODE: 'sandbox' }, { only: ['admin', 'auth'] })
  folder = await mkdtemp(join(tmpdir(), 'perkline-chain-'))
})
after(async () => {
  await platform.close()
  await rm(folder, { recursive: true, force: true })
})

const settings = () => ({
  DATABASE_URL: platform.databaseUrl,
  DATA_DIR: folder,
  PERKLINE_MODE: 'sandbox',
  MASTER_KEY: platform.config.masterKeys[0]?.toString('base64') ?? '',
  OPERATOR_KEY: platform.config.operatorKey,
  LOG_LEVEL: 'warn',
})
const startWorker = (): Promise<PerklineProcess> => startProcess(settings(), undefined, ['serve', '--only', 'worker'])

/**
 * Issues credentials until it is told to stop.
 * @returns their ids
 */
async function write(isOver: () => boolean): Promise<string[]> {
  const issued: string[] = []
  const body = { bank: 'alpha', role: 'VIEWER', label: 'writer' }
  while (!isOver()) {
    const answer = await platform.call('POST', '/admin/credentials', { token: platform.config.operatorKey, body })
    assert.equal(answer.status, 201, answer.text)
    issued.push(answer.body.clientId)
    // The test needs many simultaneous writers, but not the full speed of this machine.
    await sleep(50)
  }
  return issued
}

/** The age of the oldest entry that is in no chain yet, in milliseconds. */
async function lagMs(): Promise<number> {
  const [row] = await platform.platform.database.query<{ ms: number }>(
    `select coalesce(extract(epoch from clock_timestamp() - min((data ->> 'at')::timestamptz)) * 1000, 0)::float8 as ms
     from (select data from outbox where kind = 'audit' order by outbox_id
           offset (select count(*) from audit_log)) as waiting`,
  )
  return row?.ms ?? 0
}

const verify = (at: Pick<TestPlatform, 'call'>) =>
  at
    .call('POST', '/admin/audit-log/verify', { token: platform.config.operatorKey, body: {} })
    .then(({ body }) => [body.ok, body.fault])

test('64 write while two workers are killed in turn: one chain without a hole, with each change once', async t => {
  const workers = [await startWorker(), await startWorker()]
  let isOver = false
  const writing = Promise.all(Array.from({ length: writers }, () => write(() => isOver)))
  const lags: number[] = []
  const watching = (async () => {
    while (!isOver) {
      lags.push(await lagMs())
      await sleep(250)
    }
  })()
  try {
    for (let killed = 0; killed < kills; killed++) {
      await sleep(killEveryMs)
      await workers[killed % 2]?.kill()
      workers[killed % 2] = await startWorker()
    }
  } finally {
    isOver = true
    await watching
  }
  const issued = (await writing).flat()
  await chained(platform)
  for (const worker of workers) await worker.stop()
  const rows = await assertChained(platform)
  const told = rows.map(({ entry }) => JSON.parse(entry)).filter(({ action }) => action === 'credential.issued')
  const ids = told.map(({ object }) => object.id)
  assert.deepEqual(ids.toSorted(), issued.toSorted())
  assert.deepEqual(await verify(platform), [true, null])
  const sorted = lags.toSorted((a, b) => a - b)
  const [middle = 0, most = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  t.diagnostic(`${issued.length} changes, ${kills} kills, lag ${Math.round(middle)} ms, at most ${Math.round(most)} ms`)
})

test('dumped and restored, the chain holds and goes on', async t => {
  if (!requireProgram(t, 'pg_dump')) return
  const copy = await createTestDatabase({ migrated: false })
  try {
    restore(copy)
    const restored = await startProcess({ ...settings(), DATABASE_URL: copy.url })
    try {
      assert.deepEqual(await verify(restored), [true, null])
      const { clientId } = await restored.admin('POST', '/credentials', {
        bank: 'alpha',
        role: 'VIEWER',
        label: 'later',
      })
      await restored.admin('POST', '/audit-log/checkpoint')
      assert.deepEqual(await verify(restored), [true, null])
      const { data } = await restored.admin('GET', `/audit-log?object=credential:${clientId}`)
      assert.equal(data.length, 1)
      await assert.rejects(copy.database.execute('delete from audit_log where seq = 1'), /new entries only/)
    } finally {
      await restored.stop()
    }
  } finally {
    await copy.close()
  }
})

/** Copies the platform's database into another one with a dump. */
function restore({ url }: TestDatabase): void {
  const file = join(folder, 'dump.sql')
  for (const [program, args] of [
    ['pg_dump', ['--no-owner', '--file', file, platform.databaseUrl]],
    ['psql', ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '--file', file, url]],
  ] as const) {
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { PATH: process.env.PATH ?? '' } })
    assert.equal(status, 0, `${program}: ${stderr}`)
  }
}
