/** `perkline serve` and `perkline migrate` as real processes (contract/operations.md). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { profileLines } from '../../samples/make-profiles.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { testDirectory } from '../support/platform.ts'
import { openRaw, readRaw, requestText } from '../support/raw-http.ts'

const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))
const masterKey = randomBytes(32).toString('base64')
const operatorKey = randomBytes(32).toString('hex')

let root: string
let database: TestDatabase
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'perkline-serve-'))
  database = await createTestDatabase()
})
after(async () => {
  await database.close()
  await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
})

let folders = 0
const newFolder = () => mkdtemp(join(root, `${++folders}-`))

/** The settings of a process on the test database. */
const onServer = (url = database.url): Record<string, string> => ({
  DATABASE_URL: url,
  MASTER_KEY: masterKey,
  OPERATOR_KEY: operatorKey,
  PERKLINE_MODE: 'sandbox',
})

const live = { PERKLINE_MODE: 'live', SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' }

/** Starts the program in a folder of its own, without the settings of the person who runs the tests. */
async function start(t: TestContext, args: string[], settings: Record<string, string>) {
  const folder = await newFolder()
  const port = settings.PORT ?? String(await freePort())
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: join(folder, 'data'), ...settings, PORT: port }
  const child = spawn(program, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', chunk => {
    stdout += chunk
  })
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    folder,
    stdout: () => stdout,
    stderr: () => stderr,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** Its exit code, or the signal that ended it. */
    ended: closed.then(([code, signal]) => code ?? signal),
    async ready() {
      for (;;) {
        const answer = await fetch(`${url}/health/ready`).catch(() => null)
        await answer?.arrayBuffer()
        if (answer?.status === 200) return
        assert.equal(child.exitCode, null, `${stdout}\n${stderr}`)
        await sleep(20)
      }
    },
  }
}

/**
 * Expects that the process ends by itself with code 1 and one clear message.
 * @returns the message
 */
async function failure(t: TestContext, args: string[], settings: Record<string, string>): Promise<string> {
  const run = await start(t, args, settings)
  assert.equal(await run.ended, 1, `${run.stdout()}\n${run.stderr()}`)
  assert.doesNotMatch(run.stderr(), /^\s+at /m, 'no stack')
  return run.stderr()
}

const status = async (url: string, options?: RequestInit): Promise<number> => {
  const answer = await fetch(url, options)
  await answer.arrayBuffer()
  return answer.status
}

suite('perkline', { concurrency: 3 }, () => {
  suite('SIGTERM', { concurrency: 2 }, () => {
    test('a request under way is finished on its connection, which then ends; exit 0', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      const socket = await openRaw(run.url)
      const body = '{"clientId":"pk_nobody","secret":"nothing"}'
      const head = requestText('POST', '/getToken/auth', {
        'content-type': 'application/json',
        'content-length': String(body.length),
      })
      socket.write(head + body.slice(0, 10))
      // Another request on its own connection: once it is answered, the first one has been read that far.
      assert.equal(await status(`${run.url}/health/live`), 200)
      const signalledMs = performance.now()
      run.signal('SIGTERM')
      while (
        await fetch(`${run.url}/health/live`).then(
          answer => answer.arrayBuffer(),
          () => null,
        )
      )
        await sleep(10)
      socket.write(body.slice(10))
      const answer = await readRaw(socket)
      assert.equal(answer.status, 400)
      assert.deepEqual(Object.keys(answer.body), ['text'])
      assert.equal(await run.ended, 0, run.stderr())
      assert.ok(performance.now() - signalledMs < 20_000, 'it does not wait for idle connections')
      assert.match(run.stdout(), /"msg":"stopped"/)
      assert.equal(run.stderr(), '')
    })

    test('a request that does not end is cut off after 30 s; all is closed, exit 0', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      const socket = await openRaw(run.url)
      const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'text/csv', 'content-length': '1000' }
      socket.write(requestText('POST', '/admin/customers?bank=alpha', headers))
      const line = setInterval(() => socket.write('x'), 500)
      t.after(() => clearInterval(line))
      socket.on('error', () => {})
      await sleep(500)
      const signalledMs = performance.now()
      run.signal('SIGTERM')
      await once(socket, 'close')
      assert.ok(performance.now() - signalledMs > 29_000)
      assert.equal(await run.ended, 0, run.stderr())
      assert.match(run.stdout(), /"msg":"stopped"/)
    })

    test('connections that were kept alive do not hold it up', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      const sockets = await Promise.all(Array.from({ length: 5 }, () => openRaw(run.url)))
      for (const socket of sockets) {
        socket.write(requestText('GET', '/health/live'))
        assert.equal((await readRaw(socket)).status, 200)
      }
      const signalledMs = performance.now()
      run.signal('SIGTERM')
      assert.equal(await run.ended, 0)
      assert.ok(performance.now() - signalledMs < 20_000)
      for (const socket of sockets) socket.destroy()
    })

    test('in live mode it says at once that it is not ready, and serves until a load balancer has seen it', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const run = await start(t, ['serve'], { ...onServer(own.url), ...live })
      await run.ready()
      const [kept, late] = [await openRaw(run.url), await openRaw(run.url)]
      for (const socket of [kept, late]) {
        socket.write(requestText('GET', '/health/live'))
        assert.equal((await readRaw(socket)).headers.connection, 'keep-alive')
      }
      run.signal('SIGTERM')
      while ((await status(`${run.url}/health/ready`)) !== 503) await sleep(5)
      // A kept connection of a balancer or a bank: it is told to open a new one.
      for (const [socket, path, expected] of [
        [kept, '/health/live', 200],
        [late, '/esim/v1/operators', 401],
      ] as const) {
        const ended = once(socket, 'end')
        socket.write(requestText('GET', path))
        const answer = await readRaw(socket)
        assert.deepEqual([answer.status, answer.headers.connection], [expected, 'close'])
        await ended
      }
      assert.equal(await status(`${run.url}/health/live`), 200)
      assert.equal(await status(`${run.url}/esim/v1/operators`), 401)
      assert.equal(await run.ended, 0, run.stderr())
    })

    test('SIGINT does the same, also twice at once, as a terminal and npm send it', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      // A running request delays the stop until the second signal.
      const socket = await openRaw(run.url)
      const body = '{"clientId":"pk_nobody","secret":"nothing"}'
      const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
      socket.write(requestText('POST', '/getToken/auth', headers) + body.slice(0, 10))
      assert.equal(await status(`${run.url}/health/live`), 200)
      run.signal('SIGINT')
      while (!run.stdout().includes('"msg":"stopping"')) await sleep(1)
      run.signal('SIGINT')
      await sleep(50)
      socket.write(body.slice(10))
      assert.equal(await run.ended, 0)
      assert.match(run.stdout(), /"msg":"stopped"/)
    })
  })

  suite('an embedded platform', () => {
    test('keeps one data folder to itself, keeps its data over a restart, and stops with exit 0', async t => {
      const first = await start(t, ['serve'], { SAMPLE_DATA: '0' })
      await first.ready()
      const data = join(first.folder, 'data')
      assert.ok(existsSync(join(data, 'keys', 'master.key')) && existsSync(join(data, 'operator.key')))
      assert.equal(await status(`${first.url}/sandbox/clock`), 200)
      const moved = await fetch(`${first.url}/sandbox/clock`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"advance":"P1D"}',
      })
      assert.match(await moved.text(), /"offsetSeconds":86400/)

      const message = await failure(t, ['serve'], { DATA_DIR: data, SAMPLE_DATA: '0' })
      assert.ok(message.includes(data), message)
      assert.match(message, /in use|another/i)
      assert.equal(await status(`${first.url}/health/ready`), 200, 'the first is unharmed')

      first.signal('SIGTERM')
      assert.equal(await first.ended, 0, first.stderr())
      const second = await start(t, ['serve'], { DATA_DIR: data, SAMPLE_DATA: '0' })
      await second.ready()
      const clock = await fetch(`${second.url}/sandbox/clock`)
      assert.match(await clock.text(), /"offsetSeconds":86400/)
      second.signal('SIGTERM')
      assert.equal(await second.ended, 0)
    })
  })

  suite('what cannot start says why, in one message, with exit 1', { concurrency: 2 }, () => {
    test('settings: every fault at once', async t => {
      const message = await failure(t, ['serve'], {
        PORT: '99999',
        PERKLINE_MODE: 'production',
        RATE_LIMIT: 'fast',
        DATABASE_URL: 'mysql://user:hunter2@db.example/x',
        TRUSTED_PROXIES: 'proxy',
      })
      for (const name of [
        'PORT',
        'PERKLINE_MODE',
        'RATE_LIMIT',
        'DATABASE_URL',
        'TRUSTED_PROXIES',
        'MASTER_KEY',
        'OPERATOR_KEY',
      ])
        assert.ok(message.includes(`- ${name} `), `${name}: ${message}`)
      assert.ok(!message.includes('hunter2'))
    })

    test('a port that is taken', async t => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      t.after(() => other.close())
      const { port } = other.address() as { port: number }
      const message = await failure(t, ['serve'], { ...onServer(), PORT: String(port) })
      assert.match(message, new RegExp(`Port ${port} of 127\\.0\\.0\\.1 is taken`))
    })

    test('a port of the metrics that is taken', async t => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      t.after(() => other.close())
      const { port } = other.address() as { port: number }
      const message = await failure(t, ['serve'], { ...onServer(), METRICS_PORT: String(port) })
      assert.ok(message.includes(String(port)), message)
      assert.match(message, /METRICS_PORT/)
    })

    test('an address that is not of this machine', async t => {
      assert.match(await failure(t, ['serve'], { ...onServer(), HOST: '192.0.2.1' }), /HOST/)
    })

    test('a database that is not there, without its password', async t => {
      const url = `postgres://perkline:hunter2@127.0.0.1:${await freePort()}/perkline`
      for (const command of ['serve', 'migrate']) {
        const message = await failure(t, [command], onServer(url))
        assert.match(message, /DATABASE_URL/)
        assert.ok(!message.includes('hunter2'), message)
      }
    })

    test('a database or a user that PostgreSQL does not know', async t => {
      for (const [part, value] of [
        ['pathname', '/nowhere'],
        ['username', 'nobody_here'],
      ] as const) {
        const url = Object.assign(new URL(database.url), { [part]: value }).href
        const message = await failure(t, ['serve'], onServer(url))
        assert.match(message, /^The database refuses \(.*(?:nowhere|nobody_here).*\): check DATABASE_URL/)
      }
    })

    test('another master key than the database’s', async t => {
      const first = await start(t, ['serve'], onServer())
      await first.ready()
      first.signal('SIGTERM')
      await first.ended
      const other = randomBytes(32).toString('base64')
      const message = await failure(t, ['serve'], { ...onServer(), MASTER_KEY: other })
      assert.match(message, /MASTER_KEY/)
      assert.ok(!message.includes(other) && !message.includes(masterKey))
      const both = await start(t, ['serve'], { ...onServer(), MASTER_KEY: `${other},${masterKey}` })
      await both.ready()
    })

    test('a service that does not exist', async t => {
      const run = await start(t, ['serve', '--only', 'auth,sales'], onServer())
      assert.equal(await run.ended, 2, 'wrong usage')
      assert.match(run.stderr(), /sales/)
    })

    test('live mode without a mail server, when a bank delivers by e-mail', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const withMail = await start(t, ['serve'], { ...onServer(own.url), ...live })
      await withMail.ready()
      const directory = `banks:
  - { code: beta, name: Beta, logoUrl: https://b.example/l.svg, apiVersion: "1.0", esim: { deliveryMode: qr_email, operators: all } }`
      const applied = await fetch(`${withMail.url}/admin/directory`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ directory, files: {} }),
      })
      assert.equal(applied.status, 200, await applied.text())
      withMail.signal('SIGTERM')
      await withMail.ended
      const message = await failure(t, ['serve'], { ...onServer(own.url), PERKLINE_MODE: 'live' })
      assert.match(message, /SMTP_URL.*beta/)
    })

    test('another mode than that of the database’s first use', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const first = await start(t, ['serve'], onServer(own.url))
      await first.ready()
      first.signal('SIGTERM')
      await first.ended
      const message = await failure(t, ['serve'], { ...onServer(own.url), ...live })
      assert.match(message, /belongs to sandbox mode.*set PERKLINE_MODE=sandbox/)
    })

    test('a bank that comes to deliver by e-mail where no mail server is set: failed, and nothing is kept', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const live = await start(t, ['serve'], { ...onServer(own.url), PERKLINE_MODE: 'live' })
      await live.ready()
      const call = async (path: string, token: string, body: unknown, type = 'application/json') => {
        const answer = await fetch(live.url + path, {
          method: 'POST',
          headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': type },
          body: type === 'application/json' ? JSON.stringify(body) : String(body),
        })
        const text = await answer.text()
        assert.ok(answer.ok, text)
        return { headers: answer.headers, body: JSON.parse(text) }
      }
      await call('/admin/directory', operatorKey, { directory: testDirectory })
      const stock = [...profileLines({ count: 1, seed: 9_901 })].join('')
      await call('/admin/profiles?operator=kyivstar&tariff=eu-10gb', operatorKey, stock, 'text/csv')
      const issued = await call('/admin/credentials', operatorKey, { bank: 'beta', role: 'ADMIN', label: 'l' })
      const token = (await call('/getToken/auth', '', issued.body)).body.access_token
      const order = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: 'e-1' }
      const { orderId } = (await call('/esim/v1/orders', token, order)).body
      const address = { customerEmail: 'planted@customer.example' }
      const { headers } = await call(`/esim/v1/orders/${orderId}/confirm`, token, address)
      assert.equal(headers.get('x-email-delivery'), 'failed')
      live.signal('SIGTERM')
      assert.equal(await live.ended, 0)
      assert.ok(!existsSync(join(live.folder, 'data', 'mail')))
      assert.match(live.stdout(), /SMTP_URL and MAIL_FROM are required/)
      assert.doesNotMatch(live.stdout(), /planted/)
    })
  })

  suite('migrations', () => {
    test('with MIGRATE_ON_START=0 an empty database is refused until `perkline migrate` has run', async t => {
      const empty = await createTestDatabase({ migrated: false })
      t.after(() => empty.close())
      const settings = { ...onServer(empty.url), MIGRATE_ON_START: '0' }
      assert.match(await failure(t, ['serve'], settings), /perkline migrate/)
      const migrating = await start(t, ['migrate'], settings)
      assert.equal(await migrating.ended, 0, migrating.stderr())
      assert.match(migrating.stdout(), /^Applied \d+ migrations: /)
      const again = await start(t, ['migrate'], settings)
      assert.equal(await again.ended, 0)
      assert.match(again.stdout(), /already at this version/)
      const run = await start(t, ['serve'], settings)
      await run.ready()
    })

    test('a schema of a newer version, and a database of others, are refused with a clear message', async t => {
      const [newer, foreign] = [await createTestDatabase(), await createTestDatabase({ migrated: false })]
      t.after(() => Promise.all([newer.close(), foreign.close()]))
      await newer.database.execute(
        `insert into schema_migrations (version, name, checksum) values (9999, 'later', 'x')`,
      )
      assert.match(await failure(t, ['serve'], onServer(newer.url)), /newer version of Perkline/)
      assert.match(await failure(t, ['migrate'], onServer(newer.url)), /newer version of Perkline/)
      await foreign.database.execute('create table invoices (id int)')
      assert.match(await failure(t, ['serve'], onServer(foreign.url)), /not Perkline/)
    })
  })

  suite('--only', { concurrency: 2 }, () => {
    const paths = { auth: '/auth/login', esim: '/esim/v1/operators', admin: '/admin/stock' }
    for (const [only, served] of Object.entries<string[]>({
      esim: ['esim'],
      'auth,admin': ['auth', 'admin'],
      worker: [],
    }))
      test(`--only ${only} serves that alone, and is ready`, async t => {
        const run = await start(t, ['serve', '--only', only], onServer())
        await run.ready()
        for (const [service, path] of Object.entries(paths)) {
          const expected = served.includes(service) ? (service === 'auth' ? 405 : 401) : 404
          assert.equal(await status(run.url + path), expected, path)
        }
        assert.equal(await status(`${run.url}/sandbox/clock`), 200)
      })

    test('a token of one service is good at another', async t => {
      const [auth, esim] = await Promise.all([
        start(t, ['serve', '--only', 'auth,admin'], onServer()),
        start(t, ['serve', '--only', 'esim'], onServer()),
      ])
      await Promise.all([auth.ready(), esim.ready()])
      const post = async (path: string, body: object) => {
        const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
        const answer = await fetch(auth.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
        assert.ok(answer.ok, await answer.clone().text())
        return (await answer.json()) as any
      }
      const directory = `banks:
  - { code: solo, name: Solo, logoUrl: https://s.example/l.svg, apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }`
      await post('/admin/directory', { directory, files: {} })
      const credential = await post('/admin/credentials', { bank: 'solo', role: 'ADMIN' })
      const { access_token } = await post('/getToken/auth', credential)
      const headers = { authorization: `Bearer ${access_token}` }
      assert.equal(await status(`${esim.url}/esim/v1/operators`, { headers }), 200)
    })
  })

  suite('settings and output', { concurrency: 2 }, () => {
    test('.env in the working folder is read; the environment wins', async t => {
      const run = await start(t, ['serve'], {})
      run.signal('SIGKILL')
      await run.ended
      const port = await freePort()
      const lines = { ...onServer(), PORT: port, LOG_LEVEL: 'fatal' }
      const text = Object.entries(lines).map(([name, value]) => `${name}='${value}'\n`)
      // Some editors begin a file with a byte-order mark.
      writeFileSync(join(run.folder, '.env'), `\uFEFF${text.join('')}MASTERKEY=x\n`)
      const env = { PATH: process.env.PATH ?? '', LOG_LEVEL: 'info' }
      const child = spawn(program, ['serve'], { env, cwd: run.folder, stdio: ['ignore', 'pipe', 'inherit'] })
      t.after(() => child.kill('SIGKILL'))
      let stdout = ''
      child.stdout.on('data', chunk => {
        stdout += chunk
      })
      while (
        !(await fetch(`http://127.0.0.1:${port}/health/live`).then(
          ({ ok }) => ok,
          () => false,
        ))
      ) {
        assert.equal(child.exitCode, null, stdout)
        await sleep(20)
      }
      child.kill('SIGTERM')
      // Log lines may arrive after the answers; once the log is closed, all of them are here.
      assert.equal((await once(child, 'close'))[0], 0)
      assert.match(stdout, /"level":"info"/)
      assert.match(stdout, /"level":"warn".*MASTERKEY is not a setting: did you mean MASTER_KEY\?/)
    })

    test('what it writes is JSON lines, of the level that was asked for', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      run.signal('SIGTERM')
      assert.equal(await run.ended, 0)
      const messages = run
        .stdout()
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).msg)
      for (const message of ['ready', 'request', 'stopping', 'stopped']) assert.ok(messages.includes(message), message)
      const quiet = await start(t, ['serve'], { ...onServer(), LOG_LEVEL: 'error' })
      await quiet.ready()
      quiet.signal('SIGTERM')
      assert.equal(await quiet.ended, 0)
      assert.equal(quiet.stdout(), '')
    })

    test('in live mode it warns of what is likely to be missing, and listens at ADMIN_PORT where that is set', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const bare = await start(t, ['serve'], { ...onServer(own.url), ...live, HOST: '0.0.0.0' })
      await bare.ready()

      const [PUBLIC_URL, ADMIN_PORT] = ['https://perkline.example', await freePort()]
      const whole = await start(t, ['serve'], {
        ...onServer(own.url),
        ...live,
        PUBLIC_URL,
        ADMIN_PORT: String(ADMIN_PORT),
      })
      await whole.ready()
      const headers = { authorization: `Bearer ${operatorKey}` }
      assert.equal(await status(`http://127.0.0.1:${ADMIN_PORT}/admin/stock`, { headers }), 200)
      assert.equal(await status(`${whole.url}/admin/stock`, { headers }), 404)
      for (const run of [bare, whole]) run.signal('SIGTERM')
      assert.deepEqual(await Promise.all([bare.ended, whole.ended]), [0, 0])
      const [first, second, third] = bare.stdout().match(/"level":"warn".*/g) ?? []
      assert.match(first ?? '', /PUBLIC_URL is not set/)
      assert.match(second ?? '', /ADMIN_PORT is not set/)
      assert.match(third ?? '', /PUBLIC_URL is not https/)
      assert.doesNotMatch(whole.stdout(), /"level":"warn"/)
    })

    test('metrics are served at METRICS_PORT', async t => {
      const port = await freePort()
      const run = await start(t, ['serve'], { ...onServer(), METRICS_PORT: String(port) })
      await run.ready()
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
      assert.equal(answer.status, 200)
      assert.match(await answer.text(), /perkline_http_request_seconds/)
      run.signal('SIGTERM')
      assert.equal(await run.ended, 0)
    })
  })
})
