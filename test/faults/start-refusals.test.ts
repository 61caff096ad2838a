/** What `perkline serve` says when it cannot start (contract/operations.md). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { profileLines } from '../../samples/make-profiles.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { loadIndexKey } from '../../src/esim/stock/sealing.ts'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { testDirectory } from '../support/platform.ts'
import { live, processesOnServer } from '../support/served.ts'

const { failure, masterKey, onServer, operatorKey, start } = processesOnServer()

/** Version 0.2.0 contains the migrations up to this one. */
const lastOfVersion02 = 13

/** PostgreSQL's answer to a connection while it recovers. */
const recovering = () => {
  const fields = Buffer.from('SFATAL\0C57P03\0Mthe database system is not yet accepting connections\0\0')
  const head = Buffer.from('E\0\0\0\0')
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

suite('perkline', { concurrency: 3 }, () => {
  test('a database server that is still recovering is waited for', async t => {
    const { DATABASE_URL = '', ...others } = onServer()
    const url = new URL(DATABASE_URL)
    const host = url.searchParams.get('host') ?? url.hostname
    const port = Number(url.port || 5432)
    let refusals = 3
    const front = createServer(socket => {
      socket.on('error', () => {})
      if (refusals-- > 0) return void socket.once('data', () => socket.end(recovering()))
      const database = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
      database.on('error', () => socket.destroy())
      socket.pipe(database).pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    t.after(() => front.close())
    url.searchParams.delete('host')
    url.hostname = '127.0.0.1'
    url.port = String((front.address() as { port: number }).port)
    const run = await start(t, ['serve'], { ...others, DATABASE_URL: url.href })
    await run.ready()
    assert.equal(run.stdout().split('still starting or recovering').length, 2, 'it is told once')
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

    test('files that are missing or wrong, each by the name of its setting', async t => {
      const wrong = join(mkdtempSync(join(tmpdir(), 'perkline-wrong-')), 'wrong.pem')
      t.after(() => rmSync(dirname(wrong), { recursive: true }))
      const { DATABASE_URL = '', ...others } = onServer()
      const url = new URL(DATABASE_URL)
      url.searchParams.set('sslrootcert', '/nonexistent/ca.pem')
      for (const command of ['serve', 'migrate'])
        assert.match(await failure(t, [command], { ...others, DATABASE_URL: url.href }), /DATABASE_URL names a file/)
      for (const content of ['', 'nonsense', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n']) {
        writeFileSync(wrong, content)
        assert.match(
          await failure(t, ['serve'], { ...onServer(), WEBHOOK_CA_FILE: wrong }),
          /WEBHOOK_CA_FILE must hold/,
        )
      }
      for (const file of [dirname(wrong), join(wrong, 'anchors.txt')])
        assert.match(
          await failure(t, ['serve'], { ...onServer(), AUDIT_ANCHOR_FILE: file }),
          /AUDIT_ANCHOR_FILE must be/,
        )
    })

    test('no embedded database: migrate --check makes none', async t => {
      const dataDir = mkdtempSync(join(tmpdir(), 'perkline-unset-'))
      t.after(() => rmSync(dataDir, { recursive: true }))
      assert.match(
        await failure(t, ['migrate', '--check'], { DATA_DIR: dataDir }),
        /DATABASE_URL and DATABASE_URL_FILE are not set/,
      )
      assert.ok(!existsSync(join(dataDir, 'postgres')))
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
        const url = Object.assign(new URL(onServer().DATABASE_URL ?? ''), { [part]: value }).href
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

    test('another master key than that of a database of 0.2, before the database is migrated', async t => {
      const own = await createTestDatabase({ migrated: false })
      t.after(() => own.close())
      const before = readMigrations().filter(({ version }) => version <= lastOfVersion02)
      await migrate(own.database, before)
      await loadIndexKey(own.database, [Buffer.from(masterKey, 'base64')])
      const countApplied = async () => (await own.database.query('select from schema_migrations')).length
      const other = { ...onServer(own.url), MASTER_KEY: randomBytes(32).toString('base64') }
      for (const args of [['serve'], ['migrate'], ['migrate', '--check']]) {
        const message = await failure(t, args, other)
        assert.match(message, /^MASTER_KEY does not hold the key that the database was sealed with \(iccid-index\)/)
        assert.equal(await countApplied(), before.length, args.join(' '))
      }
      const right = await start(t, ['migrate'], onServer(own.url))
      assert.equal(await right.ended, 0, right.stderr())
      assert.equal(await countApplied(), readMigrations().length)
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

    test('a database that takes no writes', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const name = new URL(own.url).pathname.slice(1)
      await own.database.execute(`alter database ${name} set default_transaction_read_only = on`)
      const message = await failure(t, ['serve'], onServer(own.url))
      assert.match(
        message,
        /^The database takes no writes \(cannot execute .*\): the server is a standby, or default_tr/,
      )
      assert.match(message, /DATABASE_URL/)
    })

    test('a bank that comes to deliver by e-mail where no mail server is set: failed, and nothing is kept', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const without = await start(t, ['serve'], { ...onServer(own.url), PERKLINE_MODE: 'live' })
      await without.ready()
      const call = async (path: string, token: string, body: unknown, type = 'application/json', url = without.url) => {
        const answer = await fetch(url + path, {
          method: 'POST',
          headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': type },
          body: type === 'application/json' ? JSON.stringify(body) : String(body),
        })
        const text = await answer.text()
        assert.ok(answer.ok, text)
        return { headers: answer.headers, body: JSON.parse(text) }
      }
      // The process without a mail server refuses such a bank, so another process applies it.
      const withMail = await start(t, ['serve', '--only', 'admin'], { ...onServer(own.url), ...live })
      await withMail.ready()
      await call('/admin/directory', operatorKey, { directory: testDirectory }, 'application/json', withMail.url)
      const stock = [...profileLines({ count: 1, seed: 9_901 })].join('')
      await call('/admin/profiles?operator=kyivstar&tariff=eu-10gb', operatorKey, stock, 'text/csv')
      const issued = await call('/admin/credentials', operatorKey, { bank: 'beta', role: 'ADMIN', label: 'l' })
      const token = (await call('/getToken/auth', '', issued.body)).body.access_token
      const order = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: 'e-1' }
      const { orderId } = (await call('/esim/v1/orders', token, order)).body
      const address = { customerEmail: 'planted@customer.example' }
      const { headers } = await call(`/esim/v1/orders/${orderId}/confirm`, token, address)
      assert.equal(headers.get('x-email-delivery'), 'failed')
      without.signal('SIGTERM')
      assert.equal(await without.ended, 0)
      assert.ok(!existsSync(join(without.folder, 'data', 'mail')))
      assert.match(without.stdout(), /SMTP_URL and MAIL_FROM are required/)
      assert.doesNotMatch(without.stdout(), /planted/)
    })
  })
})
