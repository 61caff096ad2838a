/** The first start of the embedded platform (contract/operations.md, "Two commands"): its output, and interruptions. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { pathOf, requireProgram } from '../support/require-program.ts'
import { shells } from '../support/shells.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))
const root = await mkdtemp(join(tmpdir(), 'perkline-first-'))
const started: ChildProcess[] = []
after(async () => {
  for (const child of started) child.kill('SIGKILL')
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

/**
 * @param stdout a file for the standard output. Then `output` does not return the standard output
 * @param args options of `serve`
 */
function serve(settings: Record<string, string>, stdout: 'pipe' | number = 'pipe', args: string[] = []) {
  const env = { PATH: process.env.PATH ?? '', ...settings }
  const child = spawn(program, ['serve', ...args], { env, cwd: root, stdio: ['ignore', stdout, 'pipe'] })
  started.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      output += chunk
    })
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  return {
    child,
    output: () => output,
    /** The exit code of the process, or the signal that ended it. */
    ended: closed.then(([code, signal]) => code ?? signal),
    async until(isSo: () => boolean | Promise<boolean>) {
      const giveUpAtMs = performance.now() + 120_000
      while (!(await isSo())) {
        assert.ok(child.exitCode === null && performance.now() < giveUpAtMs, output)
        await sleep(10)
      }
    },
  }
}

async function listen() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: String((server.address() as { port: number }).port) }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    response => response.arrayBuffer().then(() => response.ok),
    () => false,
  )

const credentials = /^ {2}alpha +clientId pk_\S+ +secret \S+$/m

/** A script that replaces `date` and works as on BSD and macOS: `-d` accepts no date, and `-r` takes seconds. */
const bsdDate = `#!/bin/sh
case "$2" in
  -d) exit 1 ;;
  -r) ${pathOf(['date'])} -u -d "@$3" "$4" 2>/dev/null && exit ;;
esac
exec ${pathOf(['date'])} "$@"
`

/** The statuses of all sample campaigns, by name. */
async function campaigns(url: string, operatorKey: string): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/admin/campaigns?pageSize=100`, {
    headers: { authorization: `Bearer ${operatorKey}` },
  })
  const { data } = (await answer.json()) as { data: { name: string; status: string }[] }
  return Object.fromEntries(
    data.filter(({ name }) => !name.startsWith('My first')).map(({ name, status }) => [name, status]),
  )
}

test('the lines that it prints run in every shell, pasted as one block, up to the events, and leave the samples as they were', async t => {
  const [DATA_DIR, PORT] = [join(root, 'pasted'), String(await freePort())]
  const run = serve({ DATA_DIR, PORT })
  const printed = () => /Paste these lines[^\n]*\n\n(.*?)\n\nSample credentials.*npm start\n/s.exec(run.output())?.[1]
  await run.until(() => printed() !== undefined)
  const lines = printed() ?? ''
  assert.doesNotMatch(lines, /"\d{4}-\d\d-\d\d/)
  assert.match(run.output(), credentials)
  assert.match(run.output(), /npx perkline credentials issue.*npm run reset/s)
  const folder = `DATA_DIR='${DATA_DIR}'`
  assert.ok(run.output().includes(`then: ${folder} npm run reset && ${folder} PORT=${PORT} npm start\n`), run.output())

  const url = `http://127.0.0.1:${PORT}`
  const operatorKey = (await readFile(join(DATA_DIR, 'operator.key'), 'utf8')).trim()
  const before = await campaigns(url, operatorKey)
  assert.equal(Object.keys(before).length, 13)
  const programs = join(root, 'programs')
  await mkdir(programs)
  await writeFile(join(programs, 'date'), bsdDate, { mode: 0o755 })
  for (const shell of shells.filter(({ needs }) => needs.every(name => requireProgram(t, name)))) {
    const folder = join(root, `paste-${shell.name}`)
    await mkdir(folder)
    const path = shell.name === 'dash' ? `${programs}:${process.env.PATH}` : process.env.PATH
    const { stdout, stderr } = await shell.paste(lines, { cwd: folder, env: { PATH: path } })
    assert.equal(stderr, '', shell.name)
    assert.doesNotMatch(stdout, /"statusCode":/, shell.name)
    assert.match(stdout, /"to":"compensationReceived"/, shell.name)
    assert.match(stdout, /"offsetSeconds":0\}\s*== 5/, shell.name)
    assert.match(stdout, /"sequence":1,.*"event":"confirmed",.*\}\]\}\s*$/s, shell.name)
    assert.deepEqual((await readdir(folder)).sort(), ['esim.png', 'report.csv'])
  }
  assert.deepEqual(await campaigns(url, operatorKey), before)
  run.child.kill('SIGTERM')
  assert.equal(await run.ended, 0, run.output())

  const again = serve({ DATA_DIR, PORT })
  await again.until(() => again.output().includes('npm run reset'))
  for (const told of [`${url}/app/`, `${url}/swagger`, `${url}/esim/v1/swagger`, 'npx perkline credentials issue'])
    assert.ok(again.output().includes(told), told)
  assert.doesNotMatch(again.output(), credentials)
  again.child.kill('SIGTERM')
  assert.equal(await again.ended, 0)
})

test('npm run reset: refused while the platform runs, then the next start is a first one', async () => {
  const [DATA_DIR, PORT] = [join(root, 'reset'), String(await freePort())]
  const resetNow = (settings = {}) =>
    spawnSync('npm', ['run', 'reset', '--silent', '--', '--json'], {
      cwd: checkout,
      env: { PATH: process.env.PATH, HOME: root, DATA_DIR, ...settings },
      encoding: 'utf8',
    })
  const first = serve({ DATA_DIR, PORT })
  await first.until(() => credentials.test(first.output()))
  const whileRunning = resetNow()
  assert.equal(whileRunning.status, 1)
  assert.match(whileRunning.stderr, /in use by another Perkline process/)
  first.child.kill('SIGTERM')
  assert.equal(await first.ended, 0)

  assert.match(resetNow({ PERKLINE_MODE: 'live' }).stderr, /PERKLINE_MODE is live/)
  const elsewhere = join(root, 'reset-elsewhere')
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, '.env'), `DATA_DIR=${DATA_DIR}\n`)
  const strange = spawnSync(join(checkout, 'bin/perkline'), ['reset', '--json'], {
    cwd: elsewhere,
    env: { PATH: process.env.PATH, HOME: root },
    encoding: 'utf8',
  })
  assert.equal(JSON.parse(strange.stdout).deleted, false, 'a .env of another project is not read')
  assert.match(resetNow({ DATABASE_URL: 'postgres://localhost/x' }).stderr, /DATABASE_URL/)
  await writeFile(join(DATA_DIR, 'notes.txt'), 'mine')
  const done = resetNow()
  assert.deepEqual([done.status, JSON.parse(done.stdout)], [0, { dataDir: DATA_DIR, deleted: true }], done.stderr)
  assert.ok(existsSync(join(DATA_DIR, 'notes.txt')))
  assert.ok(!existsSync(join(DATA_DIR, 'postgres')) && !existsSync(join(DATA_DIR, 'keys')))
  assert.deepEqual(JSON.parse(resetNow().stdout), { dataDir: DATA_DIR, deleted: false })

  const second = serve({ DATA_DIR, PORT })
  await second.until(() => credentials.test(second.output()))
  second.child.kill('SIGTERM')
  assert.equal(await second.ended, 0)
})

test('npm run reset leaves an embedded database of live mode alone', async () => {
  const [DATA_DIR, PORT] = [join(root, 'reset-live'), String(await freePort())]
  const live = serve({ DATA_DIR, PORT, PERKLINE_MODE: 'live' })
  await live.until(() => answers(`http://127.0.0.1:${PORT}/health/ready`))
  live.child.kill('SIGTERM')
  assert.equal(await live.ended, 0)
  const env = { PATH: process.env.PATH, DATA_DIR }
  const { status, stderr } = spawnSync(program, ['reset'], { cwd: root, env, encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /belongs to live mode/)
  assert.ok(existsSync(join(DATA_DIR, 'postgres')))
})

test('npx perkline serve: the platform ends with the npx that started it', async () => {
  const [DATA_DIR, PORT] = [join(root, 'npx'), String(await freePort())]
  const child = spawn('npx', ['perkline', 'serve'], {
    cwd: checkout,
    env: { PATH: process.env.PATH, HOME: root, DATA_DIR, PORT, SAMPLE_DATA: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
    })
  const closed = once(child, 'close')
  const isReady = () => answers(`http://127.0.0.1:${PORT}/health/ready`)
  while (!(await isReady())) {
    assert.equal(child.exitCode, null, output)
    await sleep(20)
  }
  child.kill('SIGTERM')
  // The streams of npm close only when its child process, the platform, has ended as well.
  const giveUp = AbortSignal.timeout(60_000)
  await Promise.race([closed, once(giveUp, 'abort').then(() => assert.fail('the platform lives on'))])
  assert.equal(await isReady(), false)
  assert.match(output, /"reason":"the end of the parent process","msg":"stopping"/)
  assert.match(output, /"msg":"stopped"/)
})

test('a port that is taken: no samples are loaded, and their credentials are shown by the start that follows', async () => {
  const DATA_DIR = join(root, 'taken')
  const { server, port } = await listen()
  const first = serve({ DATA_DIR, PORT: port })
  assert.equal(await first.ended, 1)
  assert.match(first.output(), /is taken by another program; set PORT/)
  assert.doesNotMatch(first.output(), /sample data loaded/)

  server.close()
  await once(server, 'close')
  const second = serve({ DATA_DIR, PORT: port })
  await second.until(() => credentials.test(second.output()))
  second.child.kill('SIGTERM')
  assert.equal(await second.ended, 0)
})

test('a signal while the samples are loaded: they become whole and are shown, then it ends with exit 0', async () => {
  let cameInTime = false
  for (let attempt = 0; !cameInTime; attempt++) {
    assert.ok(attempt < 10, 'the signal never came in time')
    const DATA_DIR = join(root, `stopped-${attempt}`)
    const [PORT, METRICS_PORT] = [String(await freePort()), String(await freePort())]
    const run = serve({ DATA_DIR, PORT, METRICS_PORT })
    // The metrics are available just before the samples are loaded.
    await run.until(() => answers(`http://127.0.0.1:${METRICS_PORT}/metrics`))
    run.child.kill('SIGTERM')
    assert.equal(await run.ended, 0, run.output())
    assert.match(run.output(), credentials)
    assert.match(run.output(), /"msg":"stopped"/)
    cameInTime = /"msg":"stopping".*sample data loaded/s.test(run.output())
  }
})

test('an output whose reader is gone or reads nothing prevents neither the start nor the stop', async t => {
  const [DATA_DIR, PORT] = [join(root, 'unread'), String(await freePort())]
  const isReady = () => answers(`http://127.0.0.1:${PORT}/health/ready`)
  const unread = serve({ DATA_DIR, PORT })
  unread.child.stdout?.destroy()
  await unread.until(isReady)
  await sleep(200)
  assert.ok(await isReady(), 'also after it has printed the credentials')
  unread.child.kill('SIGTERM')
  assert.equal(await unread.ended, 0, unread.output())

  if (!existsSync('/dev/full')) return
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const unwritten = serve({ DATA_DIR, PORT }, full)
  await unwritten.until(isReady)
  await sleep(200)
  assert.ok(await isReady())
  unwritten.child.kill('SIGTERM')
  assert.equal(await unwritten.ended, 0, unwritten.output())
})

test('a process with some of the services, on a database of others, prints what it serves and what works there', async t => {
  const database = await createTestDatabase()
  t.after(() => database.close())
  const [DATA_DIR, PORT] = [join(root, 'some'), String(await freePort())]
  const keys = { MASTER_KEY: randomBytes(32).toString('base64'), OPERATOR_KEY: randomBytes(32).toString('hex') }
  const settings = {
    DATA_DIR,
    PORT,
    DATABASE_URL: database.url,
    DATABASE_POOL: '6',
    PERKLINE_MODE: 'sandbox',
    SAMPLE_DATA: '1',
    ...keys,
  }
  const run = serve(settings, 'pipe', ['--only', 'worker,admin'])
  await run.until(() => /^ {2}platform +login .*\n\n/m.test(run.output()))
  const url = `http://127.0.0.1:${PORT}`
  assert.match(run.output(), credentials)
  const [, addresses] = /Perkline is running.*?\n\n(.*?)\n\n/s.exec(run.output()) ?? []
  assert.equal(
    addresses,
    `  Operator API  ${url}/admin/swagger (for platform users who are logged in to the portal)\n  This process runs only worker, admin. Another process serves the rest.`,
  )
  // `npm run reset` refuses a database that the platform did not make, and a command needs the operator key there.
  assert.doesNotMatch(run.output(), /Paste these lines|curl|Start over|New credentials|npm run reset/)
  run.child.kill('SIGTERM')
  assert.equal(await run.ended, 0, run.output())
})
