/** The container files (contract/production.md, "Container"): their rules, and their processes started from their own values. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { startEmbeddedDatabase } from '../../src/db/embedded/server.ts'
import { settingsHelp } from '../../src/settings/help.ts'
import { perkline } from '../support/command.ts'
import { until } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { type PerklineProcess, startProcess } from '../support/process.ts'
import { startRedisServer } from '../support/redis.ts'
import { requireProgram } from '../support/require-program.ts'
import { startShippedProxy } from '../support/shipped-proxy.ts'

const container = fileURLToPath(new URL('../../deploy/container/', import.meta.url))
const compose = parse(await readFile(join(container, 'compose.yml'), 'utf8'), { merge: true })
/** A folder without free space, because /data has only 16 MiB in the file. Nothing can be written there either. */
const fullFolder = '/proc'
type Service = { environment: Record<string, string>; command: string[] } & Record<string, unknown>
const networksOf = ({ networks }: any): string[] => (Array.isArray(networks) ? networks : Object.keys(networks))
const ours: Record<string, Service> = Object.fromEntries(
  Object.entries(compose.services as Record<string, Service>).filter(([, { image }]) =>
    String(image).includes('PERKLINE_IMAGE'),
  ),
)

/**
 * The keys of the compose specification that this file uses at each place. A container engine would refuse or ignore a
 * misspelt key.
 */
const knownKeys: Record<string, readonly string[]> = {
  file: ['name', 'services', 'networks', 'volumes', 'secrets'],
  service: [
    ...[
      'image',
      'command',
      'environment',
      'secrets',
      'networks',
      'ports',
      'volumes',
      'depends_on',
      'healthcheck',
      'restart',
    ],
    ...[
      'user',
      'read_only',
      'cap_drop',
      'security_opt',
      'init',
      'tmpfs',
      'stop_grace_period',
      'mem_limit',
      'pids_limit',
    ],
    'shm_size',
  ],
  healthcheck: ['test', 'interval', 'timeout', 'retries', 'start_period', 'disable'],
  network: ['internal', 'ipam'],
  secret: ['file'],
}

test('the file has the structure of the compose specification, and what its parts name is there', () => {
  const expectKnown = (place: string, value: object, where: string) =>
    assert.deepEqual(
      Object.keys(value).filter(key => !key.startsWith('x-') && !knownKeys[place]?.includes(key)),
      [],
      where,
    )
  expectKnown('file', compose, 'the file')
  for (const [name, network] of Object.entries(compose.networks)) expectKnown('network', network as object, name)
  for (const [name, secret] of Object.entries(compose.secrets)) expectKnown('secret', secret as object, name)
  for (const [name, service] of Object.entries<any>(compose.services)) {
    expectKnown('service', service, name)
    expectKnown('healthcheck', service.healthcheck ?? {}, name)
    const waitsFor = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {})
    for (const [part, names] of [
      ['services', waitsFor],
      ['networks', networksOf(service)],
      ['secrets', service.secrets ?? []],
    ])
      for (const named of names) assert.ok(named in compose[part], `${name} names ${named} of ${part}`)
    for (const volume of service.volumes ?? [])
      assert.ok(/^\.{1,2}\//.test(volume) || volume.split(':')[0] in compose.volumes, `${name}: ${volume}`)
    for (const { condition } of Object.values<any>(Array.isArray(service.depends_on) ? {} : (service.depends_on ?? {})))
      assert.match(condition, /^service_(?:started|healthy|completed_successfully)$/)
  }
})

test('two processes serve and one works, each without rights, with a read-only root and a limit of memory', () => {
  assert.deepEqual(Object.keys(ours).sort(), ['migrate', 'serve-1', 'serve-2', 'worker'])
  const known = settingsHelp.map(({ name }) => name)
  for (const [name, service] of Object.entries(ours)) {
    assert.deepEqual([service.read_only, service.cap_drop, service.user], [true, ['ALL'], '10001:0'], name)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
    assert.equal(service.stop_grace_period, '45s', name)
    assert.ok(service.mem_limit, name)
    for (const setting of Object.keys(service.environment)) assert.ok(known.includes(setting), `${name}: ${setting}`)
    for (const secret of ['MASTER_KEY', 'OPERATOR_KEY', 'DATABASE_URL'])
      assert.ok(!(secret in service.environment), `${name}: ${secret}`)
  }
  for (const name of ['postgres', 'valkey', 'haproxy']) assert.ok(compose.services[name].mem_limit, name)
})

test('processes that serve or work reach mail servers and webhooks, and the proxy and the databases reach them inside only', () => {
  const isInternal = (network: string) => compose.networks[network]?.internal === true
  for (const name of ['serve-1', 'serve-2', 'worker']) {
    const networks = networksOf(ours[name])
    assert.ok(
      networks.some(network => !isInternal(network)),
      `${name} sends QR e-mails, mails to people, tests of endpoints or webhooks`,
    )
    // With a second common network the proxy could come from an address that is not in TRUSTED_PROXIES.
    const shared = networksOf(compose.services.haproxy).filter(network => networks.includes(network))
    assert.deepEqual(shared, ['inner'], name)
  }
  for (const name of ['migrate', 'postgres', 'valkey']) assert.deepEqual(networksOf(compose.services[name]), ['inner'])
  assert.ok(isInternal('inner'))
})

test('inside of the network `inner`, the public address leads to the proxy, whose first certificate has its name', async t => {
  if (!requireProgram(t, 'openssl')) return
  const byDefault = (text: unknown) => String(text).replaceAll(/\$\{\w+:-(.*?)\}/g, '$1')
  const address = new URL(byDefault(ours['serve-1']?.environment.PUBLIC_URL))
  const aliases: string[] = compose.services.haproxy.networks?.inner?.aliases ?? []
  assert.deepEqual(aliases.map(byDefault), [address.hostname])
  const proxy = await readFile(join(container, 'haproxy.cfg'), 'utf8')
  assert.equal(/^frontend partners\n +bind :(\d+) /m.exec(proxy)?.[1], address.port)
  const secrets = await mkdtemp(join(tmpdir(), 'perkline-secrets-'))
  execFileSync(join(container, 'make-secrets'), [secrets])
  const certificate = new X509Certificate(await readFile(join(secrets, 'tls.pem')))
  await rm(secrets, { recursive: true })
  for (const name of [address.hostname, 'localhost']) assert.equal(certificate.checkHost(name), name)
})

test('the image runs as an unprivileged user, without compiler, npm and tests, and has a health check', async () => {
  const dockerfile = await readFile(join(container, 'Dockerfile'), 'utf8')
  for (const line of ['USER 10001:0', 'ENTRYPOINT ["/app/bin/perkline"]', 'CMD ["serve"]', 'STOPSIGNAL SIGTERM'])
    assert.ok(dockerfile.split('\n').includes(line), line)
  assert.match(dockerfile, /^HEALTHCHECK .*CMD \["\/app\/bin\/perkline", "health", "--ready"\]$/m)
  for (const label of ['version', 'revision', 'source', 'licenses', 'created'])
    assert.ok(dockerfile.includes(`org.opencontainers.image.${label}=`), label)
})

test('started from the file’s own values it is a live platform behind TLS, with which the doctor is content', async t => {
  if (!requireProgram(t, 'redis-server') || !requireProgram(t, 'haproxy') || !requireProgram(t, 'openssl')) return
  const folder = await mkdtemp(join(tmpdir(), 'perkline-compose-'))
  const secrets = join(folder, 'secrets')
  execFileSync(join(container, 'make-secrets'), [secrets])
  const before = await readFile(join(secrets, 'master-key'), 'utf8')
  execFileSync(join(container, 'make-secrets'), [secrets])
  assert.equal(await readFile(join(secrets, 'master-key'), 'utf8'), before, 'a second run changes nothing')
  // In the compose file, the database server is on another network; here it is on this machine.
  const server = await startEmbeddedDatabase({ dataDir: join(folder, 'database') })
  const { user, database, host } = server.connection
  await writeFile(
    join(secrets, 'database-url'),
    `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}\n`,
  )
  const redis = await startRedisServer(join(secrets, 'valkey'))
  const redisUrl = new URL((await readFile(join(secrets, 'redis-url'), 'utf8')).trim())
  redisUrl.host = new URL(redis.url).host
  await writeFile(join(secrets, 'redis-url'), `${redisUrl.href}\n`)
  const closers = [() => rm(folder, { recursive: true, force: true }), () => server.stop(), () => redis.close()]
  try {
    const tls = await freePort()
    const valuesOf = async (name: string): Promise<Record<string, string>> => ({
      ...Object.fromEntries(
        Object.entries(ours[name]?.environment ?? {}).map(([setting, value]) => [
          setting,
          String(value)
            .replace('/run/secrets', secrets)
            .replace(/\$\{PUBLIC_URL:-.*\}/, `https://localhost:${tls}`)
            .replace(/\$\{ADMIN_URL:-(.*)\}/, '$1'),
        ]),
      ),
      DATA_DIR: fullFolder,
      TRUSTED_PROXIES: '127.0.0.1',
      HOST: '127.0.0.1',
      ADMIN_HOST: '127.0.0.1',
      METRICS_HOST: '127.0.0.1',
      ...Object.fromEntries(
        await Promise.all(
          ['PORT', 'ADMIN_PORT', 'METRICS_PORT'].map(async setting => [setting, String(await freePort())]),
        ),
      ),
    })
    const env = { OPERATOR_KEY: '', PERKLINE_URL: '' }
    const migrated = await perkline(ours.migrate?.command ?? [], {
      env: { ...env, ...(await valuesOf('migrate')) },
      cwd: folder,
    })
    assert.equal(migrated.code, 0, migrated.stderr)
    const settings = await Promise.all(['serve-1', 'serve-2', 'worker'].map(valuesOf))
    const [one, two, worker] = settings as [Record<string, string>, Record<string, string>, Record<string, string>]
    const processes: PerklineProcess[] = []
    for (const [index, name] of ['serve-1', 'serve-2', 'worker'].entries()) {
      const started = await startProcess(settings[index] ?? {}, undefined, ours[name]?.command)
      processes.push(started)
      closers.push(async () => assert.equal(await started.stop(), 0, name))
    }
    const proxy = await startShippedProxy({
      folder,
      port: tls,
      tlsFile: join(secrets, 'tls.pem'),
      serving: [one.PORT ?? '', two.PORT ?? ''],
      staff: [one.ADMIN_PORT ?? '', two.ADMIN_PORT ?? ''],
    })
    closers.push(proxy.close)
    const { log } = proxy
    const trusted = { NODE_EXTRA_CA_CERTS: join(secrets, 'tls.pem') }
    const examine = () => perkline(['doctor', '--json'], { env: { ...env, ...one, ...trusted } })
    await until('the proxy leads to it', async () => {
      const told = await perkline(['health', '--ready', '--url', `https://localhost:${tls}`], {
        env: { ...env, ...trusted },
      })
      return told.code === 0
    })
    const ca = await readFile(join(secrets, 'tls.pem'))
    const ask = (path: string, headers = {}) => askBehind({ port: tls, ca, path, headers })
    const statusOf = async (path: string) => (await ask(path)).statusCode
    assert.equal(await statusOf('/partner/v1/events?secret=in-the-query'), 401, 'each API of partners is served')
    assert.equal(await statusOf('/cashbacks/for-merchant/8b0c6b0e-0f0a-4d43-8a51-b1d5f9f3a111'), 401)
    assert.equal(await statusOf('/admin/users/PERSON-X/sessions'), 404)
    await until('the requests are logged', async () => log().includes('/users/*/sessions'))
    assert.match(log(), / GET \/partner\/v1\/events HTTP\/1\.1 \S{36}\n/)
    assert.match(log(), / GET \/admin\/users\/\*\/sessions HTTP\/1\.1 \S{36}\n/)
    for (const named of ['PERSON-X', '8b0c6b0e', 'in-the-query']) assert.ok(!log().includes(named), named)
    const serving = () => processes.map(({ output }) => output()).join('')
    const tooLong = 'x'.repeat(129)
    for (const [given, kept] of [
      [undefined, false],
      ['order-77.a_b', true],
      ['not one word', false],
      ['one, two', false],
      [['first', 'second'], false],
      [tooLong, false],
    ] as const) {
      const id = (await ask('/retailers', given && { 'x-request-id': given })).headers['x-request-id'] as string
      assert.match(id, kept ? /^order-77\.a_b$/ : /^[0-9a-f-]{36}$/, String(given))
      await until('both logs have the id', async () => {
        return log().includes(` HTTP/1.1 ${id}\n`) && serving().includes(`"requestId":"${id}"`)
      })
    }
    assert.ok(!log().includes(tooLong))
    const { headers } = await ask('/admin/users')
    assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/, 'an answer of haproxy itself')
    const handshake = (options: object) => openTls({ port: tls, ca, ...options })
    assert.equal(await handshake({}), 'TLSv1.3')
    assert.equal(await handshake({ maxVersion: 'TLSv1.2' }), 'TLSv1.2')
    const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }
    assert.equal(await handshake({ ...old, maxVersion: 'TLSv1.1' }), null)
    assert.equal(await handshake({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA:AES128-GCM-SHA256' }), null)
    const { checks } = JSON.parse((await examine()).stdout) as {
      checks: { name: string; ok: boolean; detail: string }[]
    }
    // This check may fail here, because the server of this test accepts fewer connections than the one in the file.
    const isOfFile = ({ name }: { name: string }) => name === 'postgresql-connections'
    assert.deepEqual(
      checks.filter(check => !check.ok && !isOfFile(check)),
      [],
    )
    const needed = Number(/may open (\d+)/.exec(checks.find(isOfFile)?.detail ?? '')?.[1])
    const file = await readFile(join(container, '..', 'postgres', 'postgresql.conf'), 'utf8')
    assert.ok(needed + 10 <= Number(/^max_connections = (\d+)$/m.exec(file)?.[1]), `${needed} connections`)
    const metrics = await (await fetch(`http://127.0.0.1:${worker.METRICS_PORT}/metrics`)).text()
    assert.match(metrics, /^perkline_ready\{instance="worker"\} 1$/m)
    assert.match(metrics, /^perkline_serves_partners\{instance="worker"\} 0$/m)
  } finally {
    for (const close of closers.reverse()) await close()
  }
})

/** Sends a request through the proxy, whose own certificate is trusted. */
async function askBehind(options: RequestOptions): Promise<IncomingMessage> {
  const asked = request({ host: 'localhost', agent: false, ...options }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  return answer
}

/** @returns the version of TLS on which both sides agree; null when there is none */
async function openTls(options: ConnectionOptions): Promise<string | null> {
  const socket = connect({ host: 'localhost', ...options })
  try {
    await once(socket, 'secureConnect')
    return socket.getProtocol()
  } catch {
    return null
  } finally {
    socket.destroy()
  }
}
