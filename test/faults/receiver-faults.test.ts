/**
 * Receivers that fail in every way (contract/webhooks.md, "The request", "When"): the outcome, the time of the next
 * attempt, and what each costs the platform.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket, Server as TcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordEvents } from '../../src/outbox/event-writing.ts'
import { until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const scheduleMs = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map(seconds => seconds * 1_000)
const wholeMs = 15_000

let folder: string
let platform: TestPlatform
const servers: (Server | TcpServer)[] = []
const sockets = new Set<Socket>()
/** How many bytes of endless answers the platform has accepted. */
let endlessBytes = 0
let followed = 0

function makeCertificates(): void {
  const openssl = (...given: string[]) => execFileSync('openssl', given, { cwd: folder, stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  openssl('req', '-x509', ...key, '-subj', '/CN=own', '-keyout', 'own.key', '-out', 'own.pem')
  openssl('req', '-x509', ...key, '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  for (const [name, alternative] of [
    ['right', 'IP:127.0.0.1'],
    ['wrong', 'DNS:other.example'],
  ] as const) {
    openssl('req', ...key, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    execFileSync('sh', ['-c', `echo subjectAltName=${alternative} > ${name}.ext`], { cwd: folder })
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', `${name}.ext`]
    openssl('x509', '-req', '-days', '2', '-in', `${name}.csr`, ...signed, '-out', `${name}.pem`)
  }
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-faults-'))
  makeCertificates()
  platform = await startPlatform({ WEBHOOK_CA_FILE: join(folder, 'ca.pem') })
})
after(async () => {
  await platform?.close()
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  await rm(folder, { recursive: true, force: true })
})

async function listen<S extends Server | TcpServer>(server: S): Promise<number> {
  servers.push(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Sends without end, as fast as the other side reads, until it closes. */
function sendWithoutEnd(response: ServerResponse): void {
  const piece = Buffer.alloc(16_384, 'x')
  const more = () => {
    while (!response.destroyed && response.write(piece)) endlessBytes += piece.length
  }
  response.on('drain', more).on('error', () => {})
  more()
}

/** Sends a byte now and then, for longer than an attempt may take. */
function sendSlowly(response: ServerResponse): void {
  const timer = setInterval(() => response.write('.'), 500)
  response.on('error', () => {}).once('close', () => clearInterval(timer))
}

const withStatus =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    request.resume().once('end', () => response.writeHead(status, headers).end('an answer\u0000\u001b[31m'))
  }

type Fault = {
  what: string
  handler: RequestListener
  tls?: 'own' | 'right' | 'wrong'
  outcome: string
  status?: number | null
  /** How long the receiver asks the platform to wait. */
  asksMs?: number
  /** `delivered`, or `gone` if the endpoint is disabled afterwards; no other attempt follows. */
  state?: string
}

const faults: Fault[] = [
  { what: 'no answer', handler: () => {}, outcome: 'timeout' },
  {
    what: 'a reset before the body was read',
    handler: request => void request.socket.resetAndDestroy(),
    outcome: 'connection',
  },
  {
    what: 'a reset behind the body',
    handler: request => void request.resume().once('end', () => request.socket.resetAndDestroy()),
    outcome: 'connection',
  },
  { what: '500', handler: withStatus(500), outcome: 'http-error', status: 500 },
  {
    what: '302 to an internal address',
    handler: (request, response) => withStatus(302, { location: internal })(request, response),
    outcome: 'redirect',
    status: 302,
  },
  { what: '410', handler: withStatus(410), outcome: 'http-error', status: 410, state: 'gone' },
  {
    what: '429 with seconds',
    handler: withStatus(429, { 'retry-after': '90' }),
    outcome: 'http-error',
    status: 429,
    asksMs: 90_000,
  },
  {
    what: '429 with a date',
    handler: (request, response) =>
      withStatus(429, { 'retry-after': new Date(Date.now() + 120_000).toUTCString() })(request, response),
    outcome: 'http-error',
    status: 429,
    asksMs: 120_000,
  },
  {
    what: 'a body without end',
    handler: (_, response) => sendWithoutEnd(response.writeHead(500)),
    outcome: 'http-error',
    status: 500,
  },
  {
    what: 'a slow body',
    handler: (_, response) => sendSlowly(response.writeHead(500)),
    outcome: 'timeout',
  },
  {
    what: 'headers without end',
    handler: (_, response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => response.socket?.write(`x: ${'y'.repeat(8_000)}\r\n`), 10)
      response.once('close', () => clearInterval(timer))
    },
    outcome: 'connection',
  },
  {
    what: '204 with a body, which its status does not allow',
    handler: (request, response) =>
      void request
        .resume()
        .once('end', () => response.socket?.write('HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok')),
    outcome: 'delivered',
    status: 204,
    state: 'delivered',
  },
  { what: 'a bad certificate', handler: withStatus(204), tls: 'own', outcome: 'tls' },
  { what: 'the certificate of another name', handler: withStatus(204), tls: 'wrong', outcome: 'tls' },
  {
    what: 'a right certificate',
    handler: withStatus(204),
    tls: 'right',
    outcome: 'delivered',
    status: 204,
    state: 'delivered',
  },
]

let internal = ''

async function startReceiver({ handler, tls }: Fault): Promise<string> {
  if (!tls) return `http://127.0.0.1:${await listen(createHttpServer(handler))}/`
  const [key, cert] = await Promise.all(['key', 'pem'].map(kind => readFile(join(folder, `${tls}.${kind}`))))
  return `https://127.0.0.1:${await listen(createHttpsServer({ key, cert }, handler))}/`
}

const call = (method: string, path: string, token: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, { token, ...(body !== undefined && { body }) })

/**
 * Returns each bank of the directory with a token. Several banks are needed, because each may have at most 10
 * endpoints.
 */
async function openAccounts() {
  const { database } = platform.platform
  const rows = await database.query<{ id: string; code: string }>(`select bank_id as id, code from banks order by code`)
  return Promise.all(rows.map(async ({ id, code }) => ({ id, token: await platform.bankToken(code) })))
}

type Attempt = {
  attempt: number
  at: string
  durationMs: number
  outcome: string
  statusCode: number | null
  responseExcerpt: string
}
type Delivery = { deliveryId: string; state: string; nextAttemptAt: string | null; attempts: Attempt[] }

/** The wait between the end of the last attempt and the next one. */
function waitOf({ nextAttemptAt, attempts }: Delivery): number {
  const last = attempts.at(-1) ?? assert.fail()
  return Date.parse(nextAttemptAt ?? '') - Date.parse(last.at) - last.durationMs
}

function assertWait(what: string, delivery: Delivery, asksMs = 0): void {
  const wanted = scheduleMs[delivery.attempts.length - 1] ?? assert.fail()
  const [least, most] = [Math.max(wanted * 0.9, asksMs), Math.max(wanted * 1.1, asksMs)]
  const wait = waitOf(delivery)
  // The limits are wider, because the log's instants are read from the database before and after the request, and a
  // date in a header has whole seconds.
  assert.ok(wait >= least - 1_500 && wait <= most + 3_000, `${what}, attempt ${delivery.attempts.length}: ${wait} ms`)
}

test('each fault has its outcome, its next attempt and its bounds', async () => {
  internal = `http://127.0.0.1:${await listen(
    createHttpServer((_, response) => {
      followed++
      response.end()
    }),
  )}/`
  const accounts = await openAccounts()
  const endpoints = await Promise.all(
    faults.map(async (fault, index) => {
      const { id, token } = accounts[index % accounts.length] ?? assert.fail()
      const made = await call('POST', '/webhook-endpoints', token, {
        url: await startReceiver(fault),
        eventTypes: ['tariff.availability_changed'],
      })
      assert.equal(made.status, 201, made.text)
      return { fault, bankId: id, token, endpointId: made.body.endpointId as string }
    }),
  )
  const memoryBefore = process.memoryUsage().rss
  await platform.platform.database.transaction(transaction =>
    recordEvents(transaction, [
      {
        type: 'tariff.availability_changed',
        at: null,
        banks: accounts.map(({ id }) => id),
        data: { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', available: true },
      },
    ]),
  )
  const read = async ({ endpointId, token }: (typeof endpoints)[number]): Promise<Delivery> =>
    (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`, token)).body.data[0]
  const isOver = (delivery: Delivery | undefined) =>
    delivery?.attempts[0] && delivery.attempts[0].outcome !== 'interrupted'
  await sleep(wholeMs)
  for (const endpoint of endpoints) {
    await until(endpoint.fault.what, async () => Boolean(isOver(await read(endpoint))))
    const delivery = await read(endpoint)
    const { what, outcome, status = null, asksMs, state } = endpoint.fault
    const [first] = delivery.attempts
    assert.deepEqual([first?.outcome, first?.statusCode ?? null], [outcome, status], what)
    assert.ok((first?.responseExcerpt ?? '').length <= 1_024, what)
    assert.doesNotMatch(first?.responseExcerpt ?? '', /\p{Cc}/u, what)
    assert.ok((first?.durationMs ?? 0) <= wholeMs + 2_000, `${what}: ${first?.durationMs} ms`)
    if (state === 'delivered') assert.equal(delivery.state, 'delivered', what)
    else if (state === 'gone') {
      assert.equal(delivery.state, 'pending', what)
      const { body } = await call('GET', `/webhook-endpoints/${endpoint.endpointId}`, endpoint.token)
      assert.deepEqual([body.status, body.disabledReason], ['disabled', 'gone'])
    } else if (delivery.attempts.length === 1) assertWait(what, delivery, asksMs)
  }
  assert.equal(followed, 0, 'a redirect was followed')
  assert.ok(endlessBytes < 8 * 1024 * 1024, `${endlessBytes} bytes were taken of a body without end`)
  const grownMiB = (process.memoryUsage().rss - memoryBefore) / 1024 / 1024
  assert.ok(grownMiB < 150, `${grownMiB} MiB`)
})

test('each of the ten attempts waits as the schedule says', async () => {
  const token = await platform.bankToken()
  for (const { endpointId } of (await call('GET', '/webhook-endpoints', token)).body.data)
    await call('DELETE', `/webhook-endpoints/${endpointId}`, token)
  const url = `http://127.0.0.1:${await listen(createHttpServer(withStatus(500)))}/`
  const made = await call('POST', '/webhook-endpoints', token, { url, eventTypes: ['tariff.availability_changed'] })
  const [bank] = await openAccounts()
  const data = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', available: false }
  await platform.platform.database.transaction(transaction =>
    recordEvents(transaction, [{ type: 'tariff.availability_changed', at: null, banks: [bank?.id ?? ''], data }]),
  )
  const read = async (): Promise<Delivery> =>
    (await call('GET', `/webhook-deliveries?endpointId=${made.body.endpointId}`, token)).body.data[0]
  for (let attempt = 1; attempt <= scheduleMs.length; attempt++) {
    await until(`attempt ${attempt}`, async () => {
      const delivery = await read()
      return delivery?.attempts.length === attempt && delivery.attempts.at(-1)?.outcome === 'http-error'
    })
    assertWait('500', await read())
    // Moves the time of the next attempt to now, instead of a retry by hand.
    await platform.platform.database.execute(
      `update webhook_deliveries set next_attempt_at = now() where endpoint_id = $1 and state = 'pending'`,
      [made.body.endpointId],
    )
  }
  await until('the last one', async () => (await read()).state === 'failed')
  assert.equal((await read()).attempts.length, 10)
})
