/** How much is logged while the database is away (contract/operations.md, "Metrics and log"). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { processesOnServer } from '../support/served.ts'

const { onServer, start } = processesOnServer()
const awayMs = 8_000

/** A proxy to a database that can be cut off. */
async function cutOffProxy(t: TestContext, address: string) {
  const url = new URL(address)
  const folder = url.searchParams.get('host')
  const port = Number(url.port || 5432)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer(client => {
    if (isCut) return void client.destroy()
    const upstream = folder ? connect(`${folder}/.s.PGSQL.${port}`) : connect(port, url.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  t.after(() => server.close())
  return {
    url: url.href,
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    restore() {
      isCut = false
    },
  }
}

test('each job logs once that the database is away, and once that it works again', async t => {
  const database = await createTestDatabase()
  t.after(() => database.close())
  const proxy = await cutOffProxy(t, database.url)
  const run = await start(t, ['serve'], onServer(proxy.url))
  await run.ready()
  const linesSince = (length: number) => run.stdout().slice(length).split('\n').filter(Boolean)
  const before = run.stdout().length
  proxy.cut()
  await sleep(awayMs)
  const lines = linesSince(before)
  const failures = lines.filter(line => line.includes('a job failed and is tried again')).map(line => JSON.parse(line))
  const jobs = failures.map(({ job }) => job)
  assert.deepEqual(jobs.toSorted(), [...new Set(jobs)].toSorted(), 'one line for each')
  assert.ok(jobs.includes('sequence-events') && jobs.includes('notifications'), jobs.join())
  for (const { err } of failures) assert.ok(err.message && !('stack' in err), JSON.stringify(err))
  const [repeated, others] = [failures.length, lines.filter(line => line.includes('"level":"warn"')).length]
  assert.ok(others - repeated <= 20, `${others} warnings`)
  proxy.restore()
  const worksAgain = () =>
    linesSince(before).filter(line => line.includes('"job":"sequence-events"') && line.includes('works again'))
  for (let waited = 0; waited < 200 && worksAgain().length === 0; waited++) await sleep(100)
  assert.equal(worksAgain().length, 1)
  assert.ok(JSON.parse(worksAgain()[0] ?? '').failures > 1)
})
