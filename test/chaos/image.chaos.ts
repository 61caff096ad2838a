/**
 * The container image (contract/production.md, "Container"): two builds of a commit are the same, no secret of the
 * builder is in its layers, and it runs as an ordinary user on a read-only root. buildah builds it and podman runs it,
 * on a base image that is made here from Debian's packages and the project's own Node.js, so that no registry of images
 * is needed.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { createTestDatabase } from '../support/database.ts'
import { makeDebian } from '../support/debian.ts'
import { freePort } from '../support/free-port.ts'
import { eventually } from '../support/patroni.ts'
import { pathOf, requireProgram } from '../support/require-program.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const planted = `PLANTED-${randomBytes(8).toString('hex')}`
const plantedFiles = [
  '.env',
  '.env.local',
  'secrets/master-key',
  'deploy/container/secrets/operator-key',
  'server.pem',
  'bin/.npmrc',
  'src/x.log',
  'data/keys.json',
]
const gzip = Buffer.from([0x1f, 0x8b])
const startsWithinMs = 180_000

type Builder = { folder: string; run(program: 'buildah' | 'podman', ...args: string[]): string }

function openBuilder(folder: string): Builder {
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
  // The builder's environment contains secrets, too.
  const env = {
    ...process.env,
    MASTER_KEY: planted,
    OPERATOR_KEY: planted,
    DATABASE_URL: `postgres://u:${planted}@h/x`,
  }
  return {
    folder,
    run: (program, ...args) =>
      execFileSync(program, [...store, ...args], {
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      }).trim(),
  }
}

function makeBase({ folder, run }: Builder): void {
  const root = join(folder, 'base')
  makeDebian(root, ['ca-certificates'])
  execFileSync('chroot', [root, 'update-ca-certificates'], { stdio: 'ignore' })
  const local = join(root, 'usr/local')
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true })
  cpSync(process.execPath, join(local, 'bin/node'))
  const npm = dirname(dirname(realpathSync(pathOf(['npm']) ?? '')))
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  const container = run('buildah', 'from', 'scratch')
  run('buildah', 'add', '--quiet', container, root, '/')
  run('buildah', 'config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container)
  run('buildah', 'config', '--env', 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt', container)
  run('buildah', 'commit', '--quiet', container, 'localhost/node:24')
}

/** Makes a checkout with secret files in it, as a careless builder may have. */
function plantSecrets(source: string): void {
  execFileSync('git', ['clone', '-q', checkout, source])
  for (const file of plantedFiles) {
    mkdirSync(dirname(join(source, file)), { recursive: true })
    writeFileSync(join(source, file), planted)
  }
}

/** @returns a folder with the image in the form in which a registry would store it */
function build({ folder, run }: Builder, source: string, tag: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: source, encoding: 'utf8' }).trim()
  const values = { BASE: 'localhost/node:24', VERSION: 'test', REVISION: git('rev-parse', 'HEAD') }
  run(
    'buildah',
    ...['build', '--quiet', '--no-cache', '--isolation', 'chroot', '--network', 'host', '--format', 'docker'],
    ...['--timestamp', git('log', '-1', '--format=%ct'), '--file', join(source, 'deploy/container/Dockerfile')],
    ...Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...['--tag', `localhost/perkline:${tag}`, source],
  )
  const saved = join(folder, tag)
  run('podman', 'save', '--quiet', '--format', 'oci-dir', '--output', saved, `localhost/perkline:${tag}`)
  return saved
}

const digestOf = (saved: string): string =>
  JSON.parse(readFileSync(join(saved, 'index.json'), 'utf8')).manifests[0].digest

/** Every file of the image as it is stored: its layers, its settings and how it was made. */
function blobsOf(saved: string): Buffer[] {
  return readdirSync(join(saved, 'blobs/sha256')).map(name => {
    const bytes = readFileSync(join(saved, 'blobs/sha256', name))
    return bytes.subarray(0, 2).equals(gzip) ? gunzipSync(bytes) : bytes
  })
}

/** crun refuses to work where both versions of control groups are mounted. So this shell mounts version 2 over them. */
const enter = `
umount -l /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
exec podman "$@"`

function runImage({ folder }: Builder, settings: Record<string, string>, volumes: Record<string, string>) {
  const [, files = '1024'] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const args = [
    ...['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs', 'run', '--rm'],
    ...[
      '--network',
      'host',
      '--cgroups',
      'disabled',
      '--ulimit',
      `nofile=${files}:${files}`,
      '--ulimit',
      'nproc=4096:4096',
    ],
    ...['--read-only', '--tmpfs', '/tmp:rw,size=64m', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'],
    ...Object.entries(volumes).flatMap(([inside, outside]) => ['--volume', `${outside}:${inside}`]),
    ...Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    'localhost/perkline:one',
  ]
  const child = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', enter, 'sh', ...args])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  return { ended: once(child, 'exit'), output: () => output }
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}

test('two builds are one image without secrets, which runs as a plain user on a read-only root', async t => {
  for (const program of ['mmdebstrap', 'buildah', 'podman', 'unshare', 'npm']) if (!requireProgram(t, program)) return
  if (process.getuid?.() !== 0) return t.skip('only root may make a Debian here')
  const folder = mkdtempSync('/var/tmp/perkline-image-')
  const scratch = await createTestDatabase({ migrated: false })
  t.after(async () => {
    await scratch.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const builder = openBuilder(folder)
  makeBase(builder)
  const source = join(folder, 'source')
  plantSecrets(source)
  const image = build(builder, source, 'one')
  assert.equal(digestOf(build(builder, source, 'two')), digestOf(image), 'two builds of a commit')
  const blobs = blobsOf(image)
  assert.ok(
    blobs.some(bytes => bytes.includes('src/main.ts')),
    'the layers can be read',
  )
  for (const bytes of blobs) assert.equal(bytes.indexOf(planted), -1, 'a secret of the builder')

  const secrets = { MASTER_KEY: randomBytes(32).toString('base64'), OPERATOR_KEY: randomBytes(32).toString('hex') }
  const [keys, data] = [join(folder, 'keys'), join(folder, 'data')]
  for (const own of [keys, data]) mkdirSync(own)
  for (const [name, value] of Object.entries(secrets)) writeFileSync(join(keys, name), value)
  execFileSync('chown', ['-R', '10001:0', keys, data])
  const url = new URL(scratch.url)
  const sockets = url.searchParams.get('host') ?? ''
  // The container runs as a different user than the database server, so give every user access to the server's socket.
  for (const path of [sockets, ...readdirSync(sockets).map(name => join(sockets, name))]) chmodSync(path, 0o777)
  url.searchParams.set('host', '/sockets')
  const port = await freePort()
  const settings = {
    ...{ HOST: '127.0.0.1', PORT: String(port), DATABASE_URL: url.href },
    ...Object.fromEntries(Object.keys(secrets).map(name => [`${name}_FILE`, `/keys/${name}`])),
  }
  const running = runImage(builder, settings, { '/keys:ro': keys, '/data': data, '/sockets': sockets })
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
  await eventually('it is ready', isReady, startsWithinMs).catch(error =>
    assert.fail(`${error.message}\n${running.output()}`),
  )

  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  const [pid = ''] = pids.filter(each => /^Uid:\t10001\t/m.test(read(`/proc/${each}/status`)))
  const status = read(`/proc/${pid}/status`)
  assert.match(status, /^CapEff:\t0+$/m)
  assert.match(status, /^NoNewPrivs:\t1$/m)
  assert.match(read(`/proc/${pid}/mounts`), /^\S+ \/ \S+ ro,/m)
  for (const value of Object.values(secrets)) {
    assert.ok(!running.output().includes(value), 'the log')
    assert.ok(!read(`/proc/${pid}/environ`).includes(value), 'the environment')
    for (const each of pids) assert.ok(!read(`/proc/${each}/cmdline`).includes(value), 'a command line')
  }
  process.kill(Number(pid), 'SIGTERM')
  assert.deepEqual(await running.ended, [0, null], running.output())
  t.diagnostic(
    JSON.stringify({
      digest: digestOf(image),
      megabytes: Math.round(blobs.reduce((sum, { length }) => sum + length, 0) / 1e6),
    }),
  )
})
