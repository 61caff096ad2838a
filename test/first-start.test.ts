/** The first start of the embedded platform (operations.md, "Two commands"): what it prints, and when something comes between. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './support/free-port.ts'
import { pathOf } from './support/require-program.ts'

const program = fileURLToPath(new URL('../bin/perkline', import.meta.url))
const root = await mkdtemp(join(tmpdir(), 'perkline-first-'))
const started: ChildProcess[] = []
after(async () => {
  for (const child of started) child.kill('SIGKILL')
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

/** @param stdout an open file for what it prints, which is then not told */
function serve(settings: Record<string, string>, stdout: 'pipe' | number = 'pipe') {
  const env = { PATH: process.env.PATH ?? '', ...settings }
  const child = spawn(program, ['serve'], { env, cwd: root, stdio: ['ignore', stdout, 'pipe'] })
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
    /** Its exit code, or the signal that ended it. */
    ended: closed.then(([code, signal]) => code ?? signal),
    async until(isSo: () => boolean | Promise<boolean>) {
      while (!(await isSo())) {
        assert.equal(child.exitCode, null, output)
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

/** `date` as BSD and macOS have it: `-d` takes no date there, and `-r` takes seconds. */
const bsdDate = `#!/bin/sh
case "$2" in
  -d) exit 1 ;;
  -r) ${pathOf(['date'])} -u -d "@$3" "$4" 2>/dev/null && exit ;;
esac
exec ${pathOf(['date'])} "$@"
`

test('the lines that it prints run as they stand, on whichever day, up to the end of a campaign', async () => {
  const [DATA_DIR, PORT] = [join(root, 'pasted'), String(await freePort())]
  const run = serve({ DATA_DIR, PORT })
  const printed = () => /^# 1\. .*-X DELETE \S+; echo$/ms.exec(run.output())?.[0]
  await run.until(() => printed() !== undefined)
  const lines = printed() ?? ''
  assert.doesNotMatch(lines, /"\d{4}-\d\d-\d\d/)

  const [folder, programs] = [join(root, 'paste'), join(root, 'programs')]
  await Promise.all([mkdir(folder), mkdir(programs)])
  await writeFile(join(programs, 'date'), bsdDate, { mode: 0o755 })
  const { status, stdout, stderr } = spawnSync('sh', ['-c', lines], {
    cwd: folder,
    env: { PATH: `${programs}:${process.env.PATH}` },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.doesNotMatch(stdout, /"statusCode":/)
  assert.match(stdout, /"to":"completed"/)
  assert.deepEqual((await readdir(folder)).sort(), ['esim.png', 'report.csv'])
  run.child.kill('SIGTERM')
  assert.equal(await run.ended, 0, run.output())
})

test('a port that is taken: no samples are loaded, and their credentials are shown by the start that follows', async () => {
  const DATA_DIR = join(root, 'taken')
  const { server, port } = await listen()
  const first = serve({ DATA_DIR, PORT: port })
  assert.equal(await first.ended, 1)
  assert.match(first.output(), /is taken by another program; set PORT/)
  assert.doesNotMatch(first.output(), /the sample directory was loaded/)

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
    // The metrics are there just before the samples are loaded.
    await run.until(() => answers(`http://127.0.0.1:${METRICS_PORT}/metrics`))
    run.child.kill('SIGTERM')
    assert.equal(await run.ended, 0, run.output())
    assert.match(run.output(), credentials)
    assert.match(run.output(), /"msg":"stopped"/)
    cameInTime = /"msg":"stopping".*the sample directory was loaded/s.test(run.output())
  }
})

test('a reader of the output that goes away, and an output that takes nothing, stop neither start nor end', async t => {
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
