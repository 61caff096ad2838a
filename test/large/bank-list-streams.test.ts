/**
 * GET /cashbacks/for-bank as bytes: long lists, compression, slow readers, readers that disconnect, and the concurrency
 * limit.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { after, before, describe, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { issueCredential, revokeCredential } from '../../src/access/operations.ts'
import { DomainError } from '../../src/errors.ts'
import { chooseEncoding } from '../../src/http/answer/content-encoding.ts'
import { createConcurrencyLimit } from '../../src/work/concurrency-limit.ts'
import {
  assertRefused,
  campaignDirectory,
  createCampaign,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../support/campaigns.ts'
import { each, range, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { openRaw, requestText } from '../support/raw-http.ts'

const path = '/cashbacks/for-bank'

let platform: TestPlatform
let alpha: Partner
let beta: Partner
let gamma: Partner
/** The campaigns that grocer sent, by id; alpha is invited to all, gamma to few. */
const created = new Map<string, Record<string, unknown>>()
before(async () => {
  platform = await startPlatform({ PENDING_CAMPAIGNS: '1000' }, { directory: campaignDirectory })
  alpha = await openCampaignBank(platform)
  beta = await openCampaignBank(platform, 'beta')
  gamma = await openCampaignBank(platform, 'gamma')
  await each(range(220), 8, async number => {
    const terminals = range(number % 7).map(index => ({
      terminal_id: `T ${number}-${index}`,
      terminal_name: `Крамниця "${index}"`,
      terminal_location: null,
      merchant_id: null,
      merchant_name: null,
    }))
    const form = {
      name: `Campaign ${number}`,
      description: 'Ї😀'.repeat(number),
      sku: range(number % 3).map(index => `sku-${index}`),
      percentage: number / 10,
      terminalsPlatform: terminals.length === 0,
      ...(terminals.length > 0 && { terminals }),
      participantsIds: number < 3 ? [ids.alpha, ids.gamma] : [ids.alpha],
    }
    created.set(await createCampaign(platform, form), form)
  })
})
after(() => platform.close())

/** Reads an answer, with its body as it was transferred: compressed bytes stay compressed. */
async function readBytes(bank: Partner, headers: Record<string, string> = {}, query = '') {
  const { port } = new URL(platform.url)
  const request = get({ port, path: path + query, headers: { authorization: `Bearer ${bank.token}`, ...headers } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { response, bytes: Buffer.concat(await response.toArray()) }
}

test('a long list equals what was created', async () => {
  const { response, bytes } = await readBytes(alpha)
  assert.equal(response.headers['transfer-encoding'], 'chunked')
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  const list: Record<string, unknown>[] = JSON.parse(bytes.toString())
  assert.equal(list.length, created.size)
  for (const campaign of list) {
    const { participantsIds: _, terminals, ...form } = created.get(String(campaign.cashbackId)) ?? {}
    for (const [field, value] of Object.entries(form)) assert.deepEqual(campaign[field], value, field)
    assert.deepEqual(campaign.terminals, terminals ?? list.find(one => one.terminalsPlatform)?.terminals)
  }
  const order = list.map(({ createdAt, cashbackId }) => [createdAt, cashbackId] as [string, string])
  const expected = order.toSorted(([a, x], [b, y]) => (a === b ? x.localeCompare(y) : b.localeCompare(a)))
  assert.deepEqual(order, expected)
})

test('in a long list each campaign has its own segment, and none where there is none', async () => {
  const [some, none] = [[...created.keys()].filter((_, index) => index % 2 === 0), created.size / 2]
  const { database } = platform.platform
  await database.execute(
    `insert into campaign_segments
     select id, $2, gen_random_uuid(), 1, '["' || id || '"]', now(), 'of ' || id from unnest($1::uuid[]) id`,
    [some, ids.alpha],
  )
  try {
    const list: Record<string, any>[] = JSON.parse((await readBytes(alpha)).bytes.toString())
    for (const { cashbackId, segment } of list)
      if (some.includes(cashbackId))
        assert.deepEqual(
          [segment.cashbackId, segment.customerIds, segment.sourceFileName],
          [cashbackId, [cashbackId], `of ${cashbackId}`],
        )
      else assert.equal(segment, null)
    assert.equal(list.filter(({ segment }) => segment === null).length, none)
  } finally {
    await database.execute('delete from campaign_segments')
  }
})

test('a filter can make a long list short or empty', async () => {
  const { bytes } = await readBytes(alpha, {}, '?name=campaign 21&sku=sku-1'.replace(' ', '%20'))
  const names = JSON.parse(bytes.toString()).map(({ name }: { name: string }) => name)
  assert.deepEqual(names.toSorted(), ['Campaign 212', 'Campaign 215', 'Campaign 218'])
  assert.equal((await readBytes(alpha, {}, '?name=nobody')).bytes.toString(), '[]')
  const last = '?activeOn=9999-12-31T23:59:59.999Z'
  assert.equal((await readBytes(alpha, {}, last)).bytes.toString(), '[]')
  assert.equal((await readBytes(beta)).bytes.toString(), '[]')
})

test('a campaign has the same text in a short and in a long list, except for the fields of each bank', async () => {
  const short = JSON.parse((await readBytes(gamma)).bytes.toString())
  const long = JSON.parse((await readBytes(alpha)).bytes.toString())
  assert.equal(short.length, 3)
  for (const campaign of short) {
    const other = long.find(({ cashbackId }: { cashbackId: string }) => cashbackId === campaign.cashbackId)
    assert.deepEqual({ ...campaign, banks: [] }, { ...other, banks: [] })
    assert.deepEqual([campaign.banks[0].id, other.banks[0].id], [ids.gamma, ids.alpha])
  }
})

describe('compression', () => {
  const decoders = { zstd: zstdDecompressSync, gzip: gunzipSync, br: brotliDecompressSync }
  for (const [coding, decode] of Object.entries(decoders))
    test(coding, async () => {
      for (const bank of [alpha, gamma]) {
        const { bytes: plain, response: identity } = await readBytes(bank)
        const { response, bytes } = await readBytes(bank, { 'accept-encoding': coding })
        assert.equal(response.headers['content-encoding'], coding)
        assert.notEqual(response.headers.etag, identity.headers.etag)
        assert.ok(bytes.length < plain.length / 2, `${bytes.length} of ${plain.length}`)
        assert.equal(decode(bytes).toString(), plain.toString())
      }
    })

  const choices: [header: string | undefined, expected: string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['deflate', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['br, gzip', 'gzip'],
    ['*', 'zstd'],
    ['*;q=0', 'identity'],
    ['zstd;q=0, *', 'gzip'],
    ['zstd;q=0.5, gzip;q=0.8, br;q=0.8', 'gzip'],
    ['gzip;q=0.2, br;q=1.0', 'br'],
    ['gzip ; q=0.5 , br ;q=0.9', 'br'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0.000, br;q=0.001', 'br'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0, gzip;q=0', 'identity'],
    ['gzip;q=high', 'identity'],
    ['gzip;q=1.0001', 'identity'],
    ['gzip;level=1', 'identity'],
    [',,gzip,', 'gzip'],
  ]
  for (const [header, expected] of choices)
    test(`Accept-Encoding: ${header}`, () => assert.equal(chooseEncoding(header), expected))

  test('refusals are not compressed', async () => {
    const headers = { 'accept-encoding': 'gzip' }
    const { response, bytes } = await readBytes(alpha, headers, '?page=1')
    assert.equal(response.statusCode, 400)
    assert.equal(response.headers['content-encoding'], undefined)
    assert.deepEqual(JSON.parse(bytes.toString()).message, ['page must be omitted'])
  })
})

test('an error before the first byte is an ordinary error answer, with any Accept-Encoding', async () => {
  const { database } = platform.platform
  await database.execute('alter table campaign_segments rename to hidden')
  try {
    for (const bank of [alpha, gamma]) {
      const { response, bytes } = await readBytes(bank, { 'accept-encoding': 'gzip' })
      assert.equal(response.statusCode, 500)
      const { etag, 'content-encoding': coding, 'transfer-encoding': transfer } = response.headers
      assert.deepEqual([etag, coding, transfer], [undefined, undefined, undefined])
      assert.equal(JSON.parse(bytes.toString()).statusCode, 500)
    }
  } finally {
    await database.execute('alter table hidden rename to campaign_segments')
  }
  assert.equal((await readBytes(alpha)).response.statusCode, 200)
})

suite('readers of a list that fills every buffer on the way', () => {
  /** The size of beta's list. It is far more than the operating system buffers for a connection. */
  const megabytes = 60
  const participantsIds = [ids.beta]
  before(async () => {
    await each(range(60), 8, () => createCampaign(platform, { participantsIds }))
    const text = JSON.stringify([{ terminal_id: 'x'.repeat((megabytes / 60) * 1_000_000) }])
    await platform.platform.database.execute(
      `update campaigns set terminals_platform = false, terminals = $1
       where cashback_id in (select cashback_id from campaign_banks where bank_id = $2)`,
      [text, ids.beta],
    )
  })

  const ask = requestText('GET', path)
  const open = async (bank: Partner): Promise<Socket> => {
    const socket = await openRaw(platform.url)
    socket.write(ask.replace('\r\n\r\n', `\r\nauthorization: Bearer ${bank.token}\r\n\r\n`))
    return socket
  }
  /** Opens a connection that reads the beginning and then nothing. */
  const openStuck = async (bank: Partner): Promise<Socket> => {
    const socket = await open(bank)
    const [first] = await once(socket, 'data')
    assert.match(String(first), /^HTTP\/1.1 200/)
    socket.pause()
    return socket
  }
  const reading = async (): Promise<number> => {
    const [row] = await platform.platform.database.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and query like 'copy%'`,
    )
    return row?.count ?? 0
  }
  const leave = async (...sockets: Socket[]) => {
    for (const socket of sockets) socket.destroy()
    await until('nothing is read any more', async () => (await reading()) === 0)
  }

  test('a reader that reads everything gets the whole list', async () => {
    const { bytes } = await readBytes(beta)
    assert.ok(bytes.length > megabytes * 1_000_000)
    assert.equal(JSON.parse(bytes.toString()).length, 60)
  })

  test('a reader that disconnects frees its database connection at once', async () => {
    for (const wait of [0, 5, 50]) {
      const socket = await openStuck(beta)
      await until('it is read', async () => (await reading()) === 1)
      await sleep(wait)
      const start = performance.now()
      await leave(socket)
      assert.ok(performance.now() - start < 5_000, 'long before it would be cut off')
    }
  })

  test('readers that disconnect at any moment break nothing', async () => {
    await each(range(60), 6, async number => {
      const socket = await open(beta)
      await sleep(number % 20)
      socket.destroy()
    })
    await leave()
    assert.equal((await readBytes(beta)).response.statusCode, 200)
  })

  test('a reader that reads nothing for 10 seconds is cut off: the connection closes, but the chunked body has no end', async () => {
    const socket = await openStuck(beta)
    const start = performance.now()
    while ((await reading()) > 0) {
      assert.ok(performance.now() - start < 15_000, 'it is still read')
      await sleep(20)
    }
    assert.ok(performance.now() - start > 9_000)
    let end = Buffer.alloc(0)
    socket.on('data', chunk => {
      end = Buffer.concat([end, chunk]).subarray(-100)
    })
    socket.resume()
    await once(socket, 'close')
    assert.doesNotMatch(end.toString(), /0\r\n\r\n$/)
  })

  test('a slow reader that loses its access is cut off within 10 seconds', async () => {
    const { database } = platform.platform
    const credential = await issueCredential({ database }, { partner: { bank: 'beta' }, role: 'ADMIN', label: 'lost' })
    const { body } = await platform.call('POST', '/getToken/auth', { body: credential })
    const socket = await openStuck({ ...beta, token: body.access_token })
    await revokeCredential({ database }, credential.clientId)
    const start = performance.now()
    while ((await reading()) > 0) {
      assert.ok(performance.now() - start < 10_000, 'it is still read')
      socket.resume()
      await Promise.race([once(socket, 'data'), once(socket, 'close')])
      socket.pause()
      await sleep(100)
    }
    socket.destroy()
  })

  test('in HTTP/1.0, where the end of the connection ends the body, an answer that breaks off is a reset', async () => {
    const socket = await openRaw(platform.url)
    socket.write(`GET ${path} HTTP/1.0\r\nauthorization: Bearer ${beta.token}\r\n\r\n`)
    await once(socket, 'data')
    socket.pause()
    await platform.platform.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'copy%'`,
    )
    socket.resume()
    await assert.rejects(once(socket, 'close'), /ECONNRESET/)
  })

  test('two requests of a bank run at once, and its others wait; other banks are served; a disconnect frees a place', async () => {
    const stuck = [await openStuck(beta), await openStuck(beta)]
    const third = readBytes(beta)
    const fourth = await open(beta)
    await sleep(100)
    assert.equal(await reading(), 2)
    assert.equal((await readBytes(alpha)).response.statusCode, 200)
    assert.equal((await readBytes(gamma)).response.statusCode, 200)
    assert.equal((await beta.call('GET', '/retailers')).status, 200)
    const { headers } = (await beta.call('HEAD', path)) ?? {}
    const known = { 'accept-encoding': 'gzip, deflate', 'if-none-match': headers.get('etag') ?? '' }
    assert.equal((await beta.call('GET', path, { headers: known })).status, 304)
    fourth.destroy()
    stuck[0]?.destroy()
    assert.equal((await third).response.statusCode, 200)
    await leave(...stuck)
  })

  test('the answer breaks off when the database connection breaks', async () => {
    const socket = await openStuck(beta)
    await platform.platform.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'copy%'`,
    )
    let end = Buffer.alloc(0)
    socket.on('data', chunk => {
      end = Buffer.concat([end, chunk]).subarray(-100)
    })
    socket.resume()
    await once(socket, 'close')
    assert.doesNotMatch(end.toString(), /0\r\n\r\n$/)
    assert.equal((await readBytes(beta)).response.statusCode, 200)
  })

  test('refused requests do not count for the concurrency limit', async () => {
    const viewer = await openCampaignBank(platform, 'beta', 'VIEWER')
    const merchant = await openMerchant(platform)
    const stuck = [await openStuck(beta), await openStuck(beta)]
    for (const caller of [viewer, merchant]) assertRefused(await caller.call('GET', path), 403)
    assertRefused(await beta.call('GET', `${path}?page=1`), 400)
    await leave(...stuck)
  })

  // The last test of this suite, because it stops the server.
  test('a stop waits for the rest of an answer, but not for the connection', async () => {
    const socket = await openStuck(beta)
    let end = Buffer.alloc(0)
    socket.on('data', chunk => {
      end = Buffer.concat([end, chunk]).subarray(-100)
    })
    const stopped = platform.platform.app.close()
    await sleep(50)
    const start = performance.now()
    socket.resume()
    await Promise.all([once(socket, 'close'), stopped])
    assert.match(end.toString(), /0\r\n\r\n$/)
    assert.ok(performance.now() - start < 30_000, 'long before an idle connection would be closed')
  })
})

suite('the concurrency limit', () => {
  const limits = { atOnce: 2, perPartner: 1, waiting: 2, waitMs: 60 }
  const patient = { ...limits, waitMs: 5_000 }
  const here = () => new AbortController().signal
  const unavailable = (error: unknown) =>
    error instanceof DomainError && error.code === 'unavailable' && (error.retryAfterSeconds ?? 0) > 0

  test('limits each bank and the total, and serves in the order of the requests', async () => {
    const turns = createConcurrencyLimit({ ...patient, waiting: 10 }, 'busy')
    const begun: string[] = []
    const take = async (bank: string) => {
      const end = await turns.take(bank, here())
      begun.push(bank)
      return end
    }
    const [a, b] = [await take('a'), await take('b')]
    const waiting = [take('a'), take('c'), take('b')]
    await sleep(5)
    assert.deepEqual(begun, ['a', 'b'])
    b()
    const c = await waiting[1]
    assert.deepEqual(begun, ['a', 'b', 'c'])
    a()
    a()
    const again = await waiting[0]
    assert.deepEqual(begun, ['a', 'b', 'c', 'a'])
    c?.()
    again?.()
    ;(await waiting[2])?.()
    for (const end of await Promise.all([take('x'), take('y')])) end()
  })

  test('a reader that waits too long, or finds the queue full, is refused with Retry-After', async () => {
    const turns = createConcurrencyLimit(limits, 'busy')
    const end = await turns.take('a', here())
    const waiting = [turns.take('a', here()), turns.take('a', here())].map(turn => assert.rejects(turn, unavailable))
    await assert.rejects(turns.take('a', here()), unavailable)
    await Promise.all(waiting)
    end()
    const next = await turns.take('a', here())
    next()
  })

  test('a reader that disconnects while it waits makes room for others', async () => {
    const turns = createConcurrencyLimit(patient, 'busy')
    const end = await turns.take('a', here())
    const leaving = new AbortController()
    const left = turns.take('a', leaving.signal)
    leaving.abort()
    await assert.rejects(left, unavailable)
    await assert.rejects(turns.take('a', AbortSignal.abort()), unavailable)
    const other = turns.take('a', here())
    end()
    ;(await other)()
  })
})
