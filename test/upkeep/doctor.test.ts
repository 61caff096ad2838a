/** `perkline doctor` names each error of an installation, and what to do (contract/production.md, "Commands"). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type EmbeddedServer, startEmbeddedDatabase } from '../../src/db/embedded/server.ts'
import { loadIndexKey } from '../../src/esim/stock/sealing.ts'
import { createLogger } from '../../src/log.ts'
import { serverFindings } from '../../src/upkeep/doctor-database.ts'
import { perkline, startScriptedPlatform } from '../support/command.ts'
import { createTestDatabase } from '../support/database.ts'
import { until } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { pathOf, requireProgram } from '../support/require-program.ts'
import { makeCertificate, startSmtpServer } from '../support/smtp.ts'

let platform: TestPlatform
let folder: string
let server: EmbeddedServer
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-doctor-'))
  // Starts a separate server, because this test changes the server's settings. Other servers may be tuned for speed.
  const dataDir = join(folder, 'own')
  server = await startEmbeddedDatabase({ dataDir })
  // The server reads archive_mode at its start only.
  await appendFile(join(dataDir, 'postgres', 'postgresql.conf'), '\narchive_mode = on\n')
  await server.stop()
  server = await startEmbeddedDatabase({ dataDir })
  platform = await startPlatform({ DATABASE_POOL: '4', DATABASE_URL: ownUrl() })
})
after(async () => {
  await platform.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

type Finding = { name: string; ok: boolean; status: string; detail: string; advice: string | null }

const settings = (): Record<string, string> => ({
  DATABASE_URL: ownUrl(),
  DATABASE_POOL: '4',
  DATA_DIR: folder,
  PERKLINE_MODE: 'sandbox',
  MASTER_KEY: platform.config.masterKeys.map(key => key.toString('base64')).join(','),
  OPERATOR_KEY: platform.config.operatorKey,
  PUBLIC_URL: platform.url,
  PERKLINE_URL: '',
})

async function examine(
  env: Record<string, string> = {},
): Promise<{ code: number | null; checks: Finding[]; text: string }> {
  const { code, stdout, stderr } = await perkline(['doctor', '--json'], { env: { ...settings(), ...env } })
  const { ok, checks } = JSON.parse(stdout || '{}')
  assert.equal(code === 0, ok, stderr)
  return { code, checks, text: stdout + stderr }
}

const ownUrl = (): string => {
  const { user, database, host } = server.connection
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`
}

test('a correct installation: exit code 0, every check is listed', async () => {
  const { code, checks } = await examine()
  assert.equal(code, 0, JSON.stringify(checks, null, 1))
  for (const name of ['database', 'postgresql-version', 'postgresql-fsync', 'clock', 'master-key', 'public-address'])
    assert.ok(
      checks.some(check => check.name === name && check.ok),
      name,
    )
  assert.ok(!checks.some(({ name }) => name === 'disk'), 'a server of its own needs no room in DATA_DIR')
  const told = await perkline(['doctor'], { env: settings() })
  assert.match(told.stdout, /^ok {3}public-address: /m)
})

/** @param expected the name and the message of the check that must fail */
async function expectFault(env: Record<string, string>, expected: { name: string; detail: RegExp; status?: string }) {
  const { code, checks, text } = await examine(env)
  const status = expected.status ?? 'failed'
  const found = checks.find(({ name, detail }) => name === expected.name && expected.detail.test(detail))
  assert.ok(found, `${expected.name} ${expected.detail}: ${JSON.stringify(checks, null, 1)}`)
  assert.equal(found.status, status)
  assert.ok((found.advice ?? '').length > 5, 'it says what to do')
  assert.equal(code, status === 'failed' ? 1 : 0)
  assert.doesNotMatch(text, /planted/, 'no secret is told')
}

test('a key of tokens that MASTER_KEY does not prove', async () => {
  const { database } = platform.platform
  await database.execute(
    `insert into token_keys (key_id, public_key, created_at, signs_from) values ('stranger', '', now(), now())`,
  )
  try {
    await expectFault({}, { name: 'token-keys', detail: /stranger/ })
    const { checks } = await examine({})
    const { advice } = checks.find(({ name }) => name === 'token-keys') ?? {}
    assert.match(advice ?? '', /^Add the former master key to MASTER_KEY/)
  } finally {
    await database.execute(`delete from token_keys where key_id = 'stranger'`)
  }
})

test('keys that another master key has sealed since: named, and no advice to delete keys that it proves', async () => {
  const [right, wrong] = [randomBytes(32), randomBytes(32)]
  const own = await createTestDatabase()
  try {
    // As in a database of 0.2, the right key has sealed the key of the stock. The first start had the other key in front.
    await loadIndexKey(own.database, [right])
    const both = [wrong, right].map(key => key.toString('base64')).join(',')
    const first = await startPlatform({ DATABASE_URL: own.url, MASTER_KEY: both }, { directory: null })
    await first.close()
    const env = { DATABASE_URL: own.url, MASTER_KEY: right.toString('base64') }
    await assert.rejects(startPlatform(env, { directory: null }), /MASTER_KEY .*\(recovery-codes\)/)
    await expectFault(env, { name: 'master-key', detail: /\(recovery-codes, audit-log\)/ })
    const { checks } = await examine(env)
    const { advice } = checks.find(({ name }) => name === 'token-keys') ?? {}
    assert.match(advice ?? '', /^Add the master key that is missing .* delete none of them$/)
    const { checks: withBoth } = await examine({ ...env, MASTER_KEY: both })
    assert.ok(withBoth.find(({ name }) => name === 'master-key')?.ok)
    assert.ok(!withBoth.some(({ name }) => name === 'token-keys'))
  } finally {
    await own.close()
  }
})

describe('settings that can’t be used', () => {
  const cases: [string, Record<string, string>, RegExp][] = [
    ['no master key', { MASTER_KEY: '' }, /MASTER_KEY is required/],
    ['a short operator key', { OPERATOR_KEY: 'planted' }, /OPERATOR_KEY must have at least/],
    ['a database URL that is none', { DATABASE_URL: 'planted' }, /DATABASE_URL must be a URL/],
    ['a mail server without a sender', { SMTP_URL: 'smtp://mail.example' }, /MAIL_FROM is required/],
    [
      'a database elsewhere without TLS',
      { PERKLINE_MODE: 'live', DATABASE_URL: 'postgres://x:planted@db.example/x' },
      /must use TLS/,
    ],
    [
      'a secret file that is not there',
      { MASTER_KEY: '', MASTER_KEY_FILE: '/nonexistent' },
      /MASTER_KEY_FILE must name a file/,
    ],
  ]
  for (const [what, env, detail] of cases) test(what, () => expectFault(env, { name: 'settings', detail }))

  test('a secret that everybody can read, and a setting that is misspelt, are warned of', async () => {
    const path = join(folder, 'open-key')
    await writeFile(path, `${settings().MASTER_KEY}\n`)
    await chmod(path, 0o644)
    await expectFault(
      { MASTER_KEY: '', MASTER_KEY_FILE: path },
      { name: 'settings', detail: /every user of this machine/, status: 'warning' },
    )
    await expectFault(
      { DATABSE_POOL: '7' },
      { name: 'settings', detail: /did you mean DATABASE_POOL/, status: 'warning' },
    )
  })
})

/** Changes a setting in the server's file and reloads it, because the role of the tests is not a superuser. */
async function setInServer(setting: string, value: string): Promise<void> {
  const cluster = join(folder, 'own', 'postgres')
  await appendFile(join(cluster, 'postgresql.conf'), `\n${setting} = '${value}'\n`)
  const [pid] = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')
  process.kill(Number(pid), 'SIGHUP')
  const client = new pg.Client(server.connection)
  await client.connect()
  const isSet = async () => (await client.query(`show ${setting}`)).rows[0]?.[setting] === value
  await until('the server has read it', isSet)
  await client.end()
}

describe('the database', () => {
  test('nobody answers, and no such database', async () => {
    await expectFault(
      { DATABASE_URL: `postgres://u:planted@127.0.0.1:${await freePort()}/x` },
      { name: 'database', detail: /ECONNREFUSED/ },
    )
    await expectFault(
      { DATABASE_URL: ownUrl().replace('/perkline?', '/nothing?') },
      { name: 'database', detail: /"nothing" does not exist/ },
    )
  })

  test('autovacuum = off', async () => {
    await setInServer('autovacuum', 'off')
    await expectFault({ DATABASE_URL: ownUrl() }, { name: 'postgresql-autovacuum', detail: /autovacuum = off/ })
    await setInServer('autovacuum', 'on')
  })

  test('an archive that archives nothing, and one that archives', async () => {
    const name = 'postgresql-archive_command'
    const shipped = await readFile(new URL('../../deploy/postgres/postgresql.conf', import.meta.url), 'utf8')
    const ofFile = /^archive_command = '(.*)'$/m.exec(shipped)?.[1] ?? ''
    for (const command of [
      ofFile,
      '',
      'true',
      '/usr/bin/true %p',
      ':',
      'exit 0',
      ' exit 0; ',
      'exit',
      '# cp %p /archive',
      '"/bin/true" %p',
      '(true)',
      '/bin/false',
    ]) {
      await setInServer('archive_command', command)
      await expectFault({}, { name, detail: /nothing is archived/, status: 'warning' })
    }
    for (const command of [
      'pgbackrest --stanza=perkline archive-push %p',
      'true && cp %p /archive/%f',
      '/opt/true/push %p',
    ]) {
      await setInServer('archive_command', command)
      const { checks } = await examine()
      assert.equal(checks.find(check => check.name === name)?.status, 'ok', command)
    }
    await setInServer('archive_command', '')
  })

  test('an archive by a library, and none at all, which the server of this test would have to be started for', async () => {
    const statusOf = async (values: Record<string, string>) => {
      const rows = Object.entries(values).map(([name, value]) => ({ name, value }))
      const findings = await serverFindings({ query: async () => rows as never })
      return findings
        .filter(({ name }) => name.startsWith('postgresql-archive'))
        .map(({ name, status }) => `${name} ${status}`)
    }
    assert.deepEqual(await statusOf({ archive_mode: 'on', archive_command: '', archive_library: 'basic_archive' }), [
      'postgresql-archive_mode ok',
      'postgresql-archive_library ok',
    ])
    assert.deepEqual(await statusOf({ archive_mode: 'off', archive_command: '(disabled)', archive_library: '' }), [
      'postgresql-archive_mode warning',
    ])
  })

  test('no temporary tables', async () => {
    const client = new pg.Client(server.connection)
    await client.connect()
    await client.query('revoke temporary on database perkline from public, perkline')
    await expectFault({ DATABASE_URL: ownUrl() }, { name: 'database-temporary', detail: /uploads, imports/ })
    await client.query('grant temporary on database perkline to public, perkline')
    await client.end()
  })

  test('a database that takes no writes', async () => {
    const client = new pg.Client(server.connection)
    await client.connect()
    await client.query('alter database perkline set default_transaction_read_only = on')
    await expectFault({ DATABASE_URL: ownUrl() }, { name: 'database-writes', detail: /read only/ })
    await client.query(
      'begin; set transaction read write; alter database perkline reset default_transaction_read_only; commit',
    )
    await client.end()
  })

  test('synchronous_commit = off', async () => {
    const client = new pg.Client(server.connection)
    await client.connect()
    await client.query('alter database perkline set synchronous_commit = off')
    await expectFault({ DATABASE_URL: ownUrl() }, { name: 'postgresql-synchronous_commit', detail: /commit = off/ })
    await client.query('alter database perkline reset synchronous_commit')
    await client.end()
  })

  test('fsync = off and full_page_writes = off, which the server of a test refuses', async () => {
    const rows = [
      { name: 'fsync', value: 'off' },
      { name: 'full_page_writes', value: 'off' },
    ]
    const findings = await serverFindings({ query: async () => rows as never })
    for (const { name } of rows)
      assert.ok(
        findings.some(finding => finding.name === `postgresql-${name}` && !finding.ok && finding.advice),
        name,
      )
  })

  test('fewer connections than the processes may open', () =>
    expectFault(
      { DATABASE_POOL: '500' },
      { name: 'postgresql-connections', detail: /may open \d+ connections, and the server takes \d+/ },
    ))

  test('each process of 0.2 counts, although its connections have no names of their own', async () => {
    const countNow = async () => {
      const { checks } = await examine()
      return /^\d+ processes/.exec(checks.find(({ name }) => name === 'postgresql-connections')?.detail ?? '')?.[0]
    }
    const others = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const client = new pg.Client({ connectionString: ownUrl(), application_name: 'perkline' })
        await client.connect()
        return client
      }),
    )
    try {
      assert.equal(await countNow(), '2 processes', 'at least one')
      await others[0]?.query('listen perkline')
      await others[1]?.query('listen perkline')
      assert.equal(await countNow(), '3 processes')
    } finally {
      for (const client of others) await client.end()
    }
    assert.equal(await countNow(), '1 processes')
  })

  test('the connections of a process are those that its start counts, and that the pages tell to plan', async () => {
    const told: string[] = []
    const logger = createLogger('warn', { write: line => void told.push(line) })
    const { MASTER_KEY = '' } = settings()
    const env = { DATABASE_URL: ownUrl(), DATABASE_POOL: '500', MASTER_KEY }
    const large = await startPlatform(env, { logger, directory: null })
    await large.close()
    const atStart = Number(/lets this process open up to (\d+) connections/.exec(told.join(''))?.[1])
    const pages = await Promise.all(
      ['operating', 'sizing'].map(page => readFile(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8')),
    )
    const planned = pages.map(page => Number(/Plan (\d+) connections of the database for a process/.exec(page)?.[1]))
    const byDoctor = async (pool: string) => {
      const { checks } = await examine({ DATABASE_POOL: pool })
      const detail = checks.find(({ name }) => name === 'postgresql-connections')?.detail ?? ''
      return Number(/^1 processes may open (\d+) connections/.exec(detail)?.[1])
    }
    assert.equal(await byDoctor('500'), atStart)
    assert.deepEqual(planned, Array(2).fill(await byDoctor('10')))
  })

  test('a schema of a newer version, and a database of others', async () => {
    const newer = await createTestDatabase()
    await newer.database.execute(`insert into schema_migrations (version, name, checksum) values (9999, 'later', 'x')`)
    await expectFault({ DATABASE_URL: newer.url }, { name: 'schema', detail: /newer version/ })
    await newer.close()
    const foreign = await createTestDatabase({ migrated: false })
    await foreign.database.execute('create table theirs (id int)')
    await expectFault({ DATABASE_URL: foreign.url }, { name: 'schema', detail: /tables that are not Perkline/ })
    await foreign.close()
  })

  test('the other mode, and another master key', async () => {
    await expectFault({ PERKLINE_MODE: 'live' }, { name: 'mode', detail: /belongs to sandbox mode/ })
    await expectFault(
      { MASTER_KEY: randomBytes(32).toString('base64') },
      { name: 'master-key', detail: /does not open/ },
    )
  })

  test('live banks that deliver by e-mail, and no mail server', async () => {
    const live = await startPlatform({
      PERKLINE_MODE: 'live',
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'a@b.example',
    })
    const env = {
      DATABASE_URL: live.databaseUrl,
      PERKLINE_MODE: 'live',
      MASTER_KEY: live.config.masterKeys[0]?.toString('base64') ?? '',
    }
    await expectFault(env, { name: 'qr-email', detail: /beta/ })
    await live.close()
  })

  test('a clock that differs', async t => {
    if (!pathOf(['faketime'])) return t.skip('faketime is not installed')
    const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
    await expectFault({ LD_PRELOAD: library, FAKETIME: '+90s' }, { name: 'clock', detail: /\d{5} ms ahead of/ })
  })
})

describe('the other servers and the data folder', () => {
  test('a mail server that is away, and one that refuses the login', async () => {
    const mail = { MAIL_FROM: 'a@b.example' }
    await expectFault(
      { ...mail, SMTP_URL: `smtp://127.0.0.1:${await freePort()}` },
      { name: 'mail', detail: /refuses or does not answer \(ESOCKET/ },
    )
    const smtp = await startSmtpServer({ credentials: { user: 'u', pass: 'right' } })
    const url = `smtp://u:planted@127.0.0.1:${smtp.port}`
    await expectFault({ ...mail, SMTP_URL: url }, { name: 'mail', detail: /EAUTH 535/ })
    await smtp.close()
  })

  test('Redis away', async () =>
    expectFault(
      { REDIS_URL: `redis://:planted@127.0.0.1:${await freePort()}` },
      { name: 'redis', detail: /does not answer \(connect ECONNREFUSED/ },
    ))

  test('a mail server and Redis that take a connection and say nothing', async () => {
    const mute = createServer().listen(0, '127.0.0.1')
    await once(mute, 'listening')
    const { port } = mute.address() as AddressInfo
    const { checks } = await examine({
      REDIS_URL: `redis://127.0.0.1:${port}`,
      SMTP_URL: `smtp://127.0.0.1:${port}`,
      MAIL_FROM: 'a@b.example',
    })
    mute.close()
    const failed = checks.filter(({ detail }) => detail.includes('does not answer')).map(({ name }) => name)
    assert.deepEqual(failed.toSorted(), ['mail', 'redis'])
  })

  test('a file of checkpoints that cannot be written', async () => {
    await expectFault(
      { AUDIT_ANCHOR_FILE: '/nonexistent/anchors.txt' },
      { name: 'checkpoints', detail: /AUDIT_ANCHOR_FILE can't be written \(ENOENT\)/ },
    )
    const user = userInfo().username
    const { checks } = await examine({ AUDIT_ANCHOR_FILE: join(folder, 'anchors.txt') })
    const told = checks.find(({ name }) => name === 'checkpoints')
    assert.equal(told?.status, user === 'root' ? 'warning' : 'ok', 'root can write what the process cannot')
    assert.match(told?.detail ?? '', new RegExp(`can be written by ${user}`))
  })

  test('a public address that nobody serves, one of another program, and one whose certificate is not trusted', async t => {
    await expectFault(
      { PUBLIC_URL: `http://127.0.0.1:${await freePort()}` },
      { name: 'public-address', detail: /can't be reached/ },
    )
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    t.after(() => silent.close())
    await expectFault(
      { PUBLIC_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` },
      { name: 'public-address', detail: /can't be reached \(TimeoutError\)/ },
    )
    const other = await startScriptedPlatform(() => ({ text: 'hello' }))
    await expectFault({ PUBLIC_URL: other.url }, { name: 'public-address', detail: /not as Perkline does/ })
    await other.close()
    if (!requireProgram(t, 'openssl')) return
    const pretender = createSecureServer(makeCertificate() ?? assert.fail(), (_request, response) => response.end())
    await new Promise<void>(resolve => pretender.listen(0, '127.0.0.1', resolve))
    t.after(() => pretender.close())
    const { port } = pretender.address() as AddressInfo
    await expectFault({ PUBLIC_URL: `https://127.0.0.1:${port}` }, { name: 'certificate', detail: /can't be trusted/ })
  })

  test('a certificate that was not seen: nobody answers, the name is unknown, or the server speaks no TLS', async t => {
    const plain = await startScriptedPlatform(() => ({ text: 'hello' }))
    t.after(() => plain.close())
    for (const [address, code] of [
      [`127.0.0.1:${await freePort()}`, 'ECONNREFUSED'],
      ['nowhere.invalid', 'ENOTFOUND|EAI_AGAIN'],
      [new URL(plain.url).host, 'ERR_SSL_\\w+|EPROTO'],
    ])
      await expectFault(
        { PUBLIC_URL: `https://${address}` },
        { name: 'certificate', detail: new RegExp(`was not seen, .* \\((?:${code})\\)`) },
      )
  })

  test('a full disk below the embedded database, and no folder for it', async () => {
    const embedded = { DATABASE_URL: '' }
    await expectFault(
      { ...embedded, DATA_DIR: '/proc' },
      { name: 'disk', detail: /^0\.0 GiB \(0 %\) are free in \/proc$/ },
    )
    const nowhere = { ...embedded, DATA_DIR: join(folder, 'nowhere') }
    await expectFault(nowhere, { name: 'disk', detail: /ENOENT/, status: 'warning' })
  })
})
