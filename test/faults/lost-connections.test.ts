/**
 * Open connections to the database are lost without an error, while new ones work (contract/reliability.md, "When something is
 * away"): long work on them ends, and leaves no session that holds its locks. Work that is only slow goes on.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../../samples/make-profiles.ts'
import { openDatabase } from '../../src/db/database.ts'
import { startEmbeddedDatabase } from '../../src/db/embedded/server.ts'
import { copyAsText } from '../../src/db/streaming/copy-out.ts'
import { campaignDirectory } from '../support/campaigns.ts'
import { range, until } from '../support/esim.ts'
import { startMuteProxy } from '../support/mute-proxy.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import {
  type Ended,
  endedCampaign,
  formOf,
  line,
  openSides,
  reportOf,
  runningCampaign,
} from '../support/reconciliation.ts'
import { customers, fileOf } from '../support/segments.ts'

const esim = `
esim:
  operators:
    - { code: kyivstar, nameUk: Київстар, country: UA, tariffs: [
        { code: eu-10gb, name: Europe, price: 399.00, currency: UAH, validityDays: 30 }] }
`

/** A connection counts as lost after 8 s; the rest is a reserve for a busy machine. */
const answeredWithinMs = 20_000

/** A platform whose database is reached through a proxy, and the same database without it. */
async function startBehindProxy(context: TestContext) {
  const direct = await startPlatform({}, { directory: campaignDirectory + esim })
  const proxy = await startMuteProxy(direct.databaseUrl)
  const platform = await direct.sibling({ DATABASE_URL: proxy.url })
  context.after(async () => {
    await platform.close()
    await proxy.close()
    await direct.close()
  })
  return { direct, proxy, platform }
}

type Sending = {
  method: string
  path: string
  token: string
  raw?: string | Uint8Array
  headers?: Record<string, string>
}

/** Sends the first half of a request. `ms` of an answer counts from the last byte of the request. */
function sendHalf(platform: TestPlatform, { method, path, token, raw = '', headers = {} }: Sending) {
  const bytes = Buffer.from(raw as string)
  const sent = request(platform.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-length': String(bytes.length), ...headers },
  })
  let sentAtMs = 0
  const answered = (async () => {
    const [response] = await once(sent, 'response')
    const text = Buffer.concat(await response.toArray()).toString()
    return { status: response.statusCode as number, text, ms: Math.round(performance.now() - sentAtMs) }
  })()
  answered.catch(() => {})
  const half = bytes.length / 2
  sent.write(bytes.subarray(0, half))
  return {
    sendRest() {
      sentAtMs = performance.now()
      sent.end(bytes.subarray(half))
      return Promise.race([answered, sleep(60_000, { status: 0, text: 'no answer', ms: 60_000 }, { ref: false })])
    },
    leave: () => void sent.destroy(),
  }
}

/** Sends a request until it is answered, as clients do that get 503 or 409 with Retry-After. */
async function persist(platform: TestPlatform, sending: Sending) {
  const giveUpAtMs = performance.now() + 30_000
  for (;;) {
    const answer = await sendHalf(platform, sending).sendRest()
    if (![503, 409].includes(answer.status) || performance.now() > giveUpAtMs) return answer
    await sleep(500)
  }
}

/** Transactions that have been open for some time and wait for bytes of the platform. */
const waiting = async ({ platform }: TestPlatform): Promise<string[]> => {
  const rows = await platform.database.query<{ query: string }>(
    `select query from pg_stat_activity where datname = current_database() and wait_event = 'ClientRead'
       and xact_start < clock_timestamp() - interval '2 seconds' order by query`,
  )
  return rows.map(({ query }) => query)
}

/** Uploads of each kind. Each is longer than the part that is buffered before its transaction begins. */
async function prepareUploads(platform: TestPlatform) {
  const sides = await openSides(platform)
  const { alpha, beta, grocer } = sides
  const awaited: Ended[] = []
  for (const _ of range(3)) awaited.push(await endedCampaign(sides, [alpha, beta]))
  const running = await runningCampaign(sides, [alpha, beta])
  const report = async (place: number, bank = alpha, first = ''): Promise<Sending> => {
    const campaign = awaited[place]
    assert.ok(campaign)
    const lines = range(30_000).map(n => line(campaign, `lost-${n}`))
    const { raw, headers } = await formOf({ file: reportOf(...(first ? [first] : []), ...lines) })
    const path = `/portal/cashbacks/${campaign.id}/bank-report`
    return { method: 'POST', path, token: bank.token, raw, headers: { ...headers, 'idempotency-key': `lost-${place}` } }
  }
  // The second half is larger than what the network's buffers take.
  const ids = customers('x'.repeat(100), 200_000)
  const operator = platform.config.operatorKey
  return {
    report: await report(0),
    otherReport: await report(1),
    invalidReport: await report(2, beta, 'invalid'),
    segment: {
      method: 'PUT',
      path: `/portal/cashbacks/${running.id}/segment`,
      token: grocer.token,
      ...(await formOf({ file: fileOf(ids) })),
    },
    profiles: {
      method: 'POST',
      path: '/admin/profiles?operator=kyivstar&tariff=eu-10gb',
      token: operator,
      raw: [...profileLines({ count: 5_000, seed: 9 })].join(''),
      headers: { 'content-type': 'text/csv' },
    },
    audit: { method: 'GET', path: '/admin/audit', token: operator },
  } satisfies Record<string, Sending>
}

describe('connections that are lost without an error', { concurrency: true }, () => {
  for (const how of ['holds', 'swallows'] as const)
    test(`long work on them gets 503, and can be repeated (the network ${how} all bytes)`, async context => {
      const { direct, proxy, platform } = await startBehindProxy(context)
      const uploads = await prepareUploads(platform)
      const blocker = await direct.platform.database.connect()
      await blocker.query('begin; lock table campaign_history in access exclusive mode')
      const audit = sendHalf(platform, uploads.audit)
      const audited = audit.sendRest()
      const report = sendHalf(platform, uploads.report)
      const left = sendHalf(platform, uploads.otherReport)
      const invalid = sendHalf(platform, uploads.invalidReport)
      const segment = sendHalf(platform, uploads.segment)
      const profiles = sendHalf(platform, uploads.profiles)
      await until('all uploads have begun', async () => (await waiting(direct)).length === 5, 60_000)
      await until('the audit waits', async () => {
        const rows = await direct.platform.database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows.length === 1
      })

      assert.ok(proxy.lose(how) > 6)
      const lostAtMs = performance.now()
      await blocker.end()
      left.leave()
      const ofAudit = audited.then(answer => ({ ...answer, ms: Math.round(performance.now() - lostAtMs) }))
      await until('it is ready', async () => (await platform.call('GET', '/health/ready')).status === 200, 30_000)
      const uploaded = [report, invalid, segment, profiles].map(upload => upload.sendRest())
      const answers = await Promise.all([ofAudit, ...uploaded])
      context.diagnostic(`answered after ${answers.map(({ ms }) => ms)} ms`)
      assert.deepEqual(
        answers.map(({ status }) => status),
        [503, 503, 400, 503, 503],
        JSON.stringify(answers),
      )
      for (const { ms } of answers) assert.ok(ms < answeredWithinMs, `${ms} ms`)
      await until('no lost session holds locks', async () => (await waiting(direct)).length === 0, 30_000)

      const { report: again, otherReport, segment: put, profiles: load, audit: check } = uploads
      const repeated = await Promise.all([again, otherReport, put, load].map(sending => persist(platform, sending)))
      assert.deepEqual(
        repeated.map(({ status }) => status),
        [201, 201, 200, 200],
        JSON.stringify(repeated.map(({ text }) => text.slice(0, 200))),
      )
      assert.equal(JSON.parse(repeated[3]?.text ?? '').result.imported, 5_000)
      assert.equal((await persist(platform, check)).status, 200)
    })

  test('slow work is not taken for lost: a statement, senders and readers that pause', async context => {
    const { direct, proxy, platform } = await startBehindProxy(context)
    const pausedMs = 20_000
    const { report, segment, profiles } = await prepareUploads(platform)
    const uploads = [report, segment, profiles].map(upload => sendHalf(platform, upload))
    await until('all uploads have begun', async () => (await waiting(direct)).length === 3, 60_000)

    const database = openDatabase({ connection: { connectionString: proxy.url }, poolSize: 2 })
    context.after(() => database.close())
    const slept = database.dedicated(client => client.query(`select pg_sleep(${pausedMs / 1000})`))
    /** Reads a text of this many bytes, and pauses before it takes the first ones. */
    const read = (bytes: number) =>
      database.longRead('files', async client => {
        let taken = 0
        const taker = new Writable({
          write(chunk: Buffer, _, done) {
            setTimeout(done, taken === 0 ? pausedMs : 0)
            taken += chunk.length
          },
        })
        const text = `select repeat('x', 1000) from generate_series(1, ${bytes / 1000})`
        await copyAsText(client, text, { stallMs: 60_000, wholeMs: 60_000 }).writeTo(taker)
        return taken
      })
    // The network's buffers take the whole of the short text, so the server waits for the next statement. The long one keeps it sending.
    const reads = Promise.all([read(1_000_000), read(50_000_000)])
    await sleep(pausedMs)
    const answers = await Promise.all(uploads.map(upload => upload.sendRest()))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 200, 200],
      JSON.stringify(answers),
    )
    assert.deepEqual(await reads, [1_000_000, 50_000_000])
    assert.equal((await slept).rowCount, 1)
  })
})

test('a commit that waits for the standby is not cut short: until then nobody sees it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-standby-'))
  await chmod(folder, 0o711)
  const server = await startEmbeddedDatabase({ dataDir: join(folder, 'data') })
  const database = openDatabase({ connection: { ...server.connection, user: 'postgres' }, poolSize: 2 })
  const look = await database.connect()
  try {
    await look.query('set synchronous_commit = local; create table sold (n int)')
    await look.query(`alter system set synchronous_standby_names = 'absent'`)
    await look.query('select pg_reload_conf()')
    await until('commits wait for a standby', async () => {
      const { rows } = await look.query('show synchronous_standby_names')
      return rows[0].synchronous_standby_names === 'absent'
    })
    await assert.rejects(database.execute('insert into sold values (1)'), { code: 'unavailable' })
    await sleep(3_000)
    const { rows } = await look.query(
      `select (select count(*)::int from sold) as seen, (select count(*)::int from pg_stat_activity where wait_event = 'SyncRep') as waiting`,
    )
    assert.deepEqual(rows, [{ seen: 0, waiting: 1 }])
  } finally {
    await look.end()
    await server.stop()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})
