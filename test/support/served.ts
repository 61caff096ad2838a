/** Real processes of `perkline` on a test database. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { freePort } from './free-port.ts'

export const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))

export const live = { PERKLINE_MODE: 'live', SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' }

/** Starts the program in `folder`, without the settings of the person who runs the tests. */
async function startIn(folder: string, t: TestContext, args: string[], settings: Record<string, string>) {
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
    /** The exit code of the process, or the signal that ended it. */
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
 * For the tests of one file: a database, and a folder for each process. The database is made before the tests and
 * removed after them.
 */
export function processesOnServer() {
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

  const start = async (t: TestContext, args: string[], settings: Record<string, string>) =>
    startIn(await mkdtemp(join(root, 'process-')), t, args, settings)

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

  /** The settings of a process on the test database. */
  const onServer = (url = database.url): Record<string, string> => ({
    DATABASE_URL: url,
    MASTER_KEY: masterKey,
    OPERATOR_KEY: operatorKey,
    PERKLINE_MODE: 'sandbox',
  })

  return { masterKey, operatorKey, start, failure, onServer }
}

/** The status of an answer whose body does not matter. */
export const status = async (url: string, options?: RequestInit): Promise<number> => {
  const answer = await fetch(url, options)
  await answer.arrayBuffer()
  return answer.status
}
