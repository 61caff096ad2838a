import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig } from '../../src/config.ts'
import { clientSettings } from '../../src/db/session.ts'
import { unknownParameters } from '../../src/settings/encryption.ts'
import { folder, masterKey, operatorKey, otherKey } from '../support/settings.ts'

const server = {
  DATABASE_URL: 'postgres://perkline@db.example/perkline?sslmode=verify-full',
  MASTER_KEY: masterKey,
  OPERATOR_KEY: operatorKey,
}

const otherOperatorKey = 'p'.repeat(32)

/** The errors of a refused set of settings, one on each line. */
function errorsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof ConfigError, `${error}`)
    return error.message.split('\n').flatMap(line => (line.startsWith('  - ') ? line.slice(4) : []))
  }
  return []
}

const refused = (env: Record<string, string>, error: RegExp) => {
  const errors = errorsOf(env)
  assert.equal(errors.length, 1, `${JSON.stringify(env)}: ${errors.join(' | ') || 'taken'}`)
  assert.match(errors[0] ?? '', error)
}

test('without any setting it is the embedded sandbox of the documentation', () => {
  assert.deepEqual(readConfig({}), {
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'http://127.0.0.1:8080',
    staffUrl: 'http://127.0.0.1:8080',
    databaseUrl: null,
    databasePool: 10,
    dataDir: resolve('data'),
    mode: 'sandbox',
    sampleData: true,
    migrateOnStart: true,
    masterKeys: [],
    operatorKey: null,
    furtherOperatorKeys: [],
    smtpUrl: null,
    mailFrom: null,
    redisUrl: null,
    rateLimit: { perSecond: 100, burst: 200 },
    apiRateLimit: { perSecond: 50, burst: 100 },
    openReservations: 10_000,
    reservationShare: 100,
    pendingCampaigns: 200,
    pendingCampaignMib: 64,
    completeAfterDays: 30,
    idempotencyHours: 24,
    auditYears: 7,
    auditAnchorFile: null,
    eventRetentionDays: 30,
    platformMfa: 'optional',
    webhooks: { concurrency: 100, ports: [443, 8443], allowedAddresses: [], caFile: null },
    retention: { reportLinesDays: null, segmentsDays: null, msisdnDays: null },
    logLevel: 'info',
    metrics: null,
    admin: null,
    trustedProxies: [],
    shutdown: { noticeMs: 0, limitMs: 30_000 },
    settingsGiven: [],
    instance: { name: hostname(), isGiven: false },
  })
})

test('with a database server it is live and without samples', () => {
  const config = readConfig(server)
  assert.deepEqual([config.mode, config.sampleData, config.databaseUrl], ['live', false, server.DATABASE_URL])
  assert.deepEqual([config.operatorKey, config.masterKeys], [operatorKey, [Buffer.alloc(32, 7)]])
  assert.equal(readConfig({ ...server, PERKLINE_MODE: 'sandbox' }).sampleData, false)
  assert.equal(config.platformMfa, 'required', 'the platform’s staff cannot do without a second factor')
})

test('every setting is taken over', () => {
  const given: Record<string, string> = {
    ...server,
    HOST: '::1',
    PORT: '9000',
    DATABASE_POOL: '25',
    DATA_DIR: '/var/lib/perkline',
    PERKLINE_MODE: 'sandbox',
    SAMPLE_DATA: '1',
    MIGRATE_ON_START: '0',
    MASTER_KEY: `${otherKey}, ${masterKey}`,
    OPERATOR_KEY: `${operatorKey}, ${otherOperatorKey}`,
    INSTANCE: 'perkline-1',
    SHUTDOWN_NOTICE: 'PT5S',
    SHUTDOWN_LIMIT: 'PT1M',
    SMTP_URL: 'smtps://user:word@mail.example:465',
    MAIL_FROM: 'eSIM <esim@bank.example>',
    REDIS_URL: 'rediss://:word@redis.example',
    RATE_LIMIT: '5/50',
    API_RATE_LIMIT: '3/30',
    RESERVATION_SHARE: '20',
    PENDING_CAMPAIGNS: '7',
    PENDING_CAMPAIGN_MIB: '8',
    OPEN_RESERVATIONS: '3',
    COMPLETE_AFTER_DAYS: '0',
    IDEMPOTENCY_HOURS: '168',
    AUDIT_RETENTION_YEARS: '30',
    AUDIT_ANCHOR_FILE: '/var/lib/anchors.txt',
    EVENT_RETENTION_DAYS: '400',
    PLATFORM_MFA: 'off',
    WEBHOOK_CONCURRENCY: '7',
    WEBHOOK_PORTS: '443, 9443',
    WEBHOOK_ALLOW_ADDRESSES: '10.0.0.0/8',
    WEBHOOK_CA_FILE: '/ca.pem',
    KEEP_REPORT_LINES_DAYS: '30',
    KEEP_SEGMENTS_DAYS: '1',
    KEEP_MSISDN_DAYS: '36500',
    LOG_LEVEL: 'debug',
    METRICS_PORT: '9100',
    METRICS_HOST: '0.0.0.0',
    ADMIN_PORT: '9200',
    ADMIN_HOST: '10.0.0.1',
    ADMIN_URL: 'https://staff.example',
    TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1,::1',
  }
  const { settingsGiven, ...config } = readConfig(given)
  assert.deepEqual(settingsGiven.sort(), Object.keys(given).sort())
  assert.deepEqual(config, {
    host: '::1',
    port: 9000,
    publicUrl: 'http://[::1]:9000',
    staffUrl: 'https://staff.example',
    databaseUrl: server.DATABASE_URL,
    databasePool: 25,
    dataDir: '/var/lib/perkline',
    mode: 'sandbox',
    sampleData: true,
    migrateOnStart: false,
    masterKeys: [Buffer.alloc(32, 8), Buffer.alloc(32, 7)],
    operatorKey,
    furtherOperatorKeys: [otherOperatorKey],
    smtpUrl: 'smtps://user:word@mail.example:465',
    mailFrom: 'eSIM <esim@bank.example>',
    redisUrl: 'rediss://:word@redis.example',
    rateLimit: { perSecond: 5, burst: 50 },
    apiRateLimit: { perSecond: 3, burst: 30 },
    openReservations: 3,
    reservationShare: 20,
    pendingCampaigns: 7,
    pendingCampaignMib: 8,
    completeAfterDays: 0,
    idempotencyHours: 168,
    auditYears: 30,
    auditAnchorFile: '/var/lib/anchors.txt',
    eventRetentionDays: 400,
    platformMfa: 'off',
    webhooks: { concurrency: 7, ports: [443, 9443], allowedAddresses: ['10.0.0.0/8'], caFile: '/ca.pem' },
    retention: { reportLinesDays: 30, segmentsDays: 1, msisdnDays: 36_500 },
    logLevel: 'debug',
    metrics: { host: '0.0.0.0', port: 9100 },
    admin: { host: '10.0.0.1', port: 9200 },
    trustedProxies: ['10.0.0.0/8', '127.0.0.1', '::1'],
    shutdown: { noticeMs: 5_000, limitMs: 60_000 },
    instance: { name: 'perkline-1', isGiven: true },
  })
})

test('a setting that is empty or blank counts as left out', () => {
  assert.deepEqual(readConfig({ PORT: '', DATABASE_URL: '  ', MASTER_KEY: '', RATE_LIMIT: ' ' }), readConfig({}))
})

test('the public address has no slash at its end', () => {
  assert.equal(readConfig({ PUBLIC_URL: 'https://esim.example/' }).publicUrl, 'https://esim.example')
  const staffUrl = (env: Record<string, string>) => readConfig({ PUBLIC_URL: 'https://esim.example', ...env }).staffUrl
  assert.equal(staffUrl({}), 'https://esim.example')
  assert.equal(staffUrl({ ADMIN_PORT: '8090', ADMIN_HOST: '10.0.0.5' }), 'http://10.0.0.5:8090')
  assert.equal(staffUrl({ ADMIN_PORT: '8090', ADMIN_URL: 'https://staff.example/' }), 'https://staff.example')
  assert.equal(staffUrl({ ADMIN_URL: 'https://staff.example' }), 'https://staff.example', 'a worker has no ADMIN_PORT')
})

test('RATE_LIMIT=0 switches the limit off', () => {
  assert.equal(readConfig({ RATE_LIMIT: '0' }).rateLimit, null)
  assert.equal(readConfig({ API_RATE_LIMIT: '0' }).apiRateLimit, null)
})

test('all errors are told at once, each naming its setting', () => {
  const errors = errorsOf({
    PORT: '80a',
    PUBLIC_URL: 'esim.example',
    DATABASE_URL: 'mysql://db.example/x',
    DATABASE_POOL: '1',
    PERKLINE_MODE: 'production',
    SAMPLE_DATA: 'yes',
    MIGRATE_ON_START: 'no',
    MASTER_KEY: `${masterKey},short`,
    OPERATOR_KEY: 'x'.repeat(31),
    SMTP_URL: 'mail.example:25',
    MAIL_FROM: 'a@example.com\r\nBcc: b@example.com',
    REDIS_URL: 'http://redis.example',
    RATE_LIMIT: '100',
    API_RATE_LIMIT: 'fast',
    RESERVATION_SHARE: '101',
    PENDING_CAMPAIGNS: '0',
    PENDING_CAMPAIGN_MIB: 'x',
    OPEN_RESERVATIONS: '0',
    COMPLETE_AFTER_DAYS: '-1',
    LOG_LEVEL: 'loud',
    METRICS_PORT: '65536',
    ADMIN_PORT: 'x',
    ALLOW_PLAINTEXT: 'yes',
    TRUSTED_PROXIES: 'the-proxy',
  })
  const named = errors.map(error => error.split(' ')[0]).sort()
  assert.deepEqual(named, [
    'ADMIN_PORT',
    'ALLOW_PLAINTEXT',
    'API_RATE_LIMIT',
    'COMPLETE_AFTER_DAYS',
    'DATABASE_POOL',
    'DATABASE_URL',
    'LOG_LEVEL',
    'MAIL_FROM',
    'MASTER_KEY',
    'METRICS_PORT',
    'MIGRATE_ON_START',
    'OPEN_RESERVATIONS',
    'OPERATOR_KEY',
    'PENDING_CAMPAIGNS',
    'PENDING_CAMPAIGN_MIB',
    'PERKLINE_MODE',
    'PORT',
    'PUBLIC_URL',
    'RATE_LIMIT',
    'REDIS_URL',
    'RESERVATION_SHARE',
    'SAMPLE_DATA',
    'SMTP_URL',
    'TRUSTED_PROXIES',
  ])
})

test('PUBLIC_URL has no user, query or fragment, and WEBHOOK_PORTS are digits', () => {
  for (const url of ['u@esim.example', 'u:p@esim.example', 'esim.example/?a=b', 'esim.example/#a', 'esim.example?'])
    assert.deepEqual(errorsOf({ PUBLIC_URL: `https://${url}` }), [
      'PUBLIC_URL must have no user, no password, no query and no fragment',
    ])
  for (const ports of ['0x50', '443.0', '4e2', '443,', '65536', '0'])
    assert.match(errorsOf({ WEBHOOK_PORTS: ports }).join(), /^WEBHOOK_PORTS must be ports/, ports)
})

test('a database server needs both keys, and a mail server a sender', () => {
  const errors = errorsOf({ DATABASE_URL: server.DATABASE_URL, SMTP_URL: 'smtps://mail.example' })
  assert.deepEqual(
    errors.map(error => error.split(' is required')[0]),
    ['MASTER_KEY', 'OPERATOR_KEY', 'MAIL_FROM'],
  )
})

test('the sender of e-mails is one address, with or without a name', () => {
  const mail = { SMTP_URL: 'smtp://mail.example' }
  const wrong = ['nobody', 'a@', '@b.example', 'eSIM <nobody>', 'a@b.example, c@d.example', 'a@b.example c@d.example']
  for (const MAIL_FROM of [...wrong, 'eSIM <a@b.example', 'eSIM a@b.example', '<a@b.example> eSIM', 'a@b.example\nx'])
    refused({ ...mail, MAIL_FROM }, /^MAIL_FROM must be one address/)
  for (const MAIL_FROM of ['a@b.example', '<a@b.example>', 'eSIM <a@b.example>', '"Банк, eSIM" <a+b@c.example>'])
    assert.equal(readConfig({ ...mail, MAIL_FROM }).mailFrom, MAIL_FROM)
})

test('live mode refuses the samples, embedded or not', () => {
  refused({ PERKLINE_MODE: 'live', SAMPLE_DATA: '1' }, /^SAMPLE_DATA must be 0 in live mode/)
  refused({ ...server, SAMPLE_DATA: '1' }, /^SAMPLE_DATA must be 0 in live mode/)
})

test('in live mode the platform’s people need a second factor, unless a setting says otherwise', () => {
  assert.equal(readConfig(server).platformMfa, 'required')
  assert.equal(readConfig({ ...server, PLATFORM_MFA: 'optional' }).platformMfa, 'optional')
  assert.equal(readConfig({ ...server, PERKLINE_MODE: 'sandbox' }).platformMfa, 'optional')
})

test('no message shows a password, a key or a secret', () => {
  const secret = 'hunter2hunter2'
  const message = errorsOf({
    DATABASE_URL: `mysql://user:${secret}@db.example/x`,
    SMTP_URL: `http://user:${secret}@mail.example`,
    REDIS_URL: `https://:${secret}@redis.example`,
    PUBLIC_URL: `ftp://user:${secret}@esim.example`,
    MASTER_KEY: `${secret},${secret}`,
    OPERATOR_KEY: secret,
    MAIL_FROM: `${secret}\n`.repeat(20),
  }).join('\n')
  assert.match(message, /DATABASE_URL/)
  assert.ok(!message.includes(secret), message)
})

test('a database address that the driver could not read is refused without showing it', () => {
  for (const url of ['postgres://user:%zz@db.example/x', 'postgres://user:pa#ss@db.example/x', 'postgres:// db/x']) {
    refused({ ...server, DATABASE_URL: url }, /^DATABASE_URL must be/)
    assert.ok(
      !errorsOf({ ...server, DATABASE_URL: url })
        .join()
        .includes('user'),
    )
  }
})

test('whole numbers are digits within their limits', () => {
  for (const value of ['-1', '1.5', '1e3', '0x50', '65536', '٣', '9'.repeat(30), '80 80'])
    refused({ PORT: value }, /^PORT must be a whole number from 0 to 65535/)
  assert.equal(readConfig({ PORT: '0' }).port, 0)
  assert.equal(readConfig({ PORT: ' 65535 ' }).port, 65535)
})

test('metrics are served at an address of their own', () => {
  const error = /^METRICS_PORT must be another than PORT/
  refused({ METRICS_PORT: '8080' }, error)
  refused({ PORT: '9100', METRICS_PORT: '9100', METRICS_HOST: '0.0.0.0' }, error)
  refused({ HOST: '::', PORT: '9100', METRICS_PORT: '9100' }, error)
  refused({ HOST: '10.0.0.1', METRICS_HOST: '10.0.0.1', METRICS_PORT: '8080' }, error)
  assert.equal(readConfig({ HOST: '10.0.0.1', METRICS_PORT: '8080' }).metrics?.port, 8080)
  assert.equal(readConfig({ PORT: '0', METRICS_PORT: '0' }).metrics?.port, 0)
})

test('a rate limit is two whole numbers from 1 on', () => {
  for (const value of ['100', '0/0', '0/5', '5/0', '-1/5', '1.5/5', '5/5/5', 'off', '/5', '5/'])
    refused({ RATE_LIMIT: value }, /^RATE_LIMIT must be/)
})

test('a master key is base64 of exactly 32 bytes', () => {
  const wrong = [
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    Buffer.alloc(32).toString('hex'),
    `${masterKey.slice(0, 20)}!!!!${masterKey.slice(20)}`,
    `${masterKey}${masterKey}`,
    'correct horse battery staple',
  ]
  for (const key of wrong) refused({ MASTER_KEY: key }, /^MASTER_KEY must be base64 of 32 bytes; its first key is not$/)
  refused({ MASTER_KEY: `${masterKey},` }, /its second key is not$/)
  refused({ MASTER_KEY: `${masterKey},,${otherKey}` }, /its second key is not$/)
  assert.equal(readConfig({ MASTER_KEY: masterKey.replace(/=+$/, '') }).masterKeys.length, 1)
})

test('trusted proxies are addresses or networks', () => {
  for (const value of ['proxy.example', '10.0.0.0/33', '10.0.0', '127.0.0.1,nonsense', '::1/129', '1.2.3.4/'])
    refused({ TRUSTED_PROXIES: value }, /^TRUSTED_PROXIES must be/)
  for (const value of ['10.0.0.0/8', '::1', 'fd00::/8', ' 10.0.0.1 , 10.0.0.2 '])
    assert.ok(readConfig({ TRUSTED_PROXIES: value }).trustedProxies.length > 0, value)
})

test('five settings may stand in files', async t => {
  const path = await folder(t)
  const values = {
    DATABASE_URL: server.DATABASE_URL,
    MASTER_KEY: `${masterKey},${otherKey}`,
    OPERATOR_KEY: operatorKey,
    SMTP_URL: 'smtps://user:word@mail.example',
    REDIS_URL: 'rediss://redis.example',
  }
  const files = Object.entries(values).map(([name, value]) => {
    writeFileSync(join(path, name), `${value}\n`, { mode: 0o600 })
    return [`${name}_FILE`, join(path, name)]
  })
  const mail = { MAIL_FROM: 'esim@bank.example' }
  const { settingsGiven, ...read } = readConfig({ ...Object.fromEntries(files), ...mail })
  assert.ok(settingsGiven.includes('MASTER_KEY_FILE'))
  assert.deepEqual({ ...read, settingsGiven: [] }, { ...readConfig({ ...values, ...mail }), settingsGiven: [] })
  for (const [name = '', file = ''] of files) {
    const plain = name.replace('_FILE', '') as keyof typeof values
    const others = { ...values, ...mail, [plain]: '' }
    refused({ ...values, ...mail, [name]: file }, new RegExp(`^${plain} and ${name} are both set`))
    refused(
      { ...others, [name]: join(path, 'absent') },
      new RegExp(`^${name} must name a file that this user can read`),
    )
    writeFileSync(join(path, 'empty'), '\n')
    refused({ ...others, [name]: join(path, 'empty') }, new RegExp(`^${name} names .*empty, which is empty$`))
    refused({ ...others, [name]: '/dev/zero' }, new RegExp(`^${name} names /dev/zero, which has more than 64 KiB$`))
  }
})

test('live mode sends nothing unencrypted to another machine', () => {
  const mail = { MAIL_FROM: 'esim@bank.example' }
  const elsewhere: [string, string[], string[]][] = [
    [
      'DATABASE_URL',
      [
        'postgres://p@db.example/p',
        'postgres://p@10.0.0.1/p?sslmode=disable',
        'postgres://p@localhost/p?host=db.example',
        'postgres://p@db.example/p?ssl=0',
      ],
      [
        'postgres://p@db.example/p?sslmode=require',
        'postgres://p@db.example/p?ssl=true',
        'postgres://p@127.0.0.1/p',
        'postgres://p@[::1]/p',
        'postgres:///p',
        'postgres://p@%2Fvar%2Frun%2Fpostgresql/p',
        'postgres://p@localhost/p?host=%2Fvar%2Frun%2Fpostgresql',
        'postgres://p@db.example/p?host=/var/run/postgresql',
      ],
    ],
    [
      'SMTP_URL',
      [
        'smtp://mail.example',
        'smtp://mail.example?requireTLS=false',
        'smtp://mail.example?ignoreTLS=true',
        'smtp://mail.example?secure=true',
      ],
      ['smtps://mail.example', 'smtp://mail.example?requireTLS=true', 'smtp://localhost:25', 'smtp://[::1]:25'],
    ],
    [
      'REDIS_URL',
      ['redis://redis.example', 'redis://:w@10.0.0.1:6379', 'redis:///0?host=redis.example'],
      ['rediss://redis.example', 'redis://127.0.0.1'],
    ],
  ]
  for (const [name, plain, safe] of elsewhere) {
    for (const url of plain) {
      refused({ ...server, ...mail, [name]: url }, new RegExp(`^${name} must use TLS`))
      assert.deepEqual(errorsOf({ ...server, ...mail, [name]: url, ALLOW_PLAINTEXT: '1' }), [])
      assert.deepEqual(errorsOf({ ...server, ...mail, [name]: url, PERKLINE_MODE: 'sandbox' }), [])
    }
    for (const url of safe) assert.deepEqual(errorsOf({ ...server, ...mail, [name]: url }), [], url)
  }
})

test('live mode checks the certificates of other machines', () => {
  const mail = { MAIL_FROM: 'esim@bank.example' }
  const unverified: [name: string, url: string][] = [
    ['DATABASE_URL', 'postgres://p@db.example/p?sslmode=no-verify'],
    ['DATABASE_URL', 'postgres://p@db.example/p?ssl=no-verify'],
    ['DATABASE_URL', 'postgres://p@db.example/p?sslmode=require&uselibpqcompat=true'],
    ['DATABASE_URL', 'postgres://p@db.example/p?sslmode=prefer&uselibpqcompat=true'],
    // If a parameter is repeated, the driver uses its last value.
    ['DATABASE_URL', 'postgres://p@db.example/p?sslmode=verify-full&sslmode=no-verify'],
    ['SMTP_URL', 'smtps://mail.example?tls.rejectUnauthorized=false'],
    ['SMTP_URL', 'smtp://mail.example?requireTLS=true&tls.rejectUnauthorized=false'],
  ]
  for (const [name, url] of unverified) {
    refused({ ...server, ...mail, [name]: url }, new RegExp(`^${name} must check the certificate`))
    assert.deepEqual(errorsOf({ ...server, ...mail, [name]: url, ALLOW_PLAINTEXT: '1' }), [])
    assert.deepEqual(errorsOf({ ...server, ...mail, [name]: url, PERKLINE_MODE: 'sandbox' }), [])
  }
  for (const url of [
    'postgres://p@localhost/p?sslmode=no-verify',
    'postgres://p@db.example/p?sslmode=require&uselibpqcompat=true&sslrootcert=/etc/ca.pem',
  ])
    assert.deepEqual(errorsOf({ ...server, DATABASE_URL: url }), [], url)
  assert.deepEqual(errorsOf({ ...server, ...mail, SMTP_URL: 'smtps://localhost?tls.rejectUnauthorized=false' }), [])
  const unchecked = { ...server, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  for (const env of [unchecked, { ...unchecked, ALLOW_PLAINTEXT: '1' }])
    refused(env, /^NODE_TLS_REJECT_UNAUTHORIZED must not be 0/)
  assert.deepEqual(errorsOf({ ...unchecked, PERKLINE_MODE: 'sandbox' }), [])
})

test('a database URL with an unknown sslmode is refused, also in a sandbox', () => {
  for (const PERKLINE_MODE of ['live', 'sandbox'])
    for (const mode of ['foo', 'verify_full', 'REQUIRE'])
      refused(
        { ...server, PERKLINE_MODE, DATABASE_URL: `postgres://p@localhost/p?sslmode=${mode}` },
        /^DATABASE_URL must have one of these after sslmode=: disable, /,
      )
})

test('modes that the driver takes for verify-full are passed on as such, so that it does not warn', () => {
  const passed = (query: string) => {
    const { connectionString } = clientSettings({ connectionString: `postgres://p@db.example/p?${query}` }) as {
      connectionString: string
    }
    return new URL(connectionString).search
  }
  for (const mode of ['prefer', 'require', 'verify-ca']) assert.equal(passed(`sslmode=${mode}`), '?sslmode=verify-full')
  for (const query of ['sslmode=disable', 'sslmode=no-verify', 'sslmode=require&uselibpqcompat=true', 'ssl=1'])
    assert.equal(passed(query), `?${query}`)
})

test('parameters of a database URL that the driver ignores are told', () => {
  assert.deepEqual(unknownParameters('postgres://p@localhost/p?ssl_mode=require&foo=1&sslmode=disable&host=x'), [
    'DATABASE_URL has parameters that have no effect: "ssl_mode", "foo"',
  ])
  assert.deepEqual(unknownParameters('postgres://p@localhost/p'), [])
})

test('a secret in a named pipe is refused, because opening it could wait for ever', t => {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-pipe-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const pipe = join(folder, 'key')
  execFileSync('mkfifo', [pipe])
  const { MASTER_KEY: _, ...others } = server
  refused({ ...others, MASTER_KEY_FILE: pipe }, /MASTER_KEY_FILE must name a file .*is a named pipe/)
})

test('a database URL without a host leads where PGHOST says', () => {
  const nowhere = { ...server, DATABASE_URL: 'postgres:///perkline' }
  refused({ ...nowhere, PGHOST: 'db.example' }, /^DATABASE_URL must use TLS/)
  for (const PGHOST of ['', 'localhost', '/var/run/postgresql']) assert.deepEqual(errorsOf({ ...nowhere, PGHOST }), [])
  const encrypted = { ...nowhere, DATABASE_URL: 'postgres:///perkline?sslmode=verify-full', PGHOST: 'db.example' }
  assert.deepEqual(errorsOf(encrypted), [])
})

test('the admin interface has an address that nothing else has', () => {
  refused({ ADMIN_PORT: '8080' }, /^ADMIN_PORT must be another than PORT/)
  refused({ ADMIN_PORT: '9100', METRICS_PORT: '9100' }, /^ADMIN_PORT must be another than METRICS_PORT/)
  assert.deepEqual(readConfig({ ADMIN_PORT: '9200' }).admin, { host: '127.0.0.1', port: 9200 })
  assert.equal(readConfig({ HOST: '10.0.0.1', ADMIN_PORT: '8080' }).admin?.port, 8080)
})
