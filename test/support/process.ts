/** The platform as its users run it: its own process (`bin/perkline serve`), which can be killed. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { exchange } from './exchange.ts'
import { freePort } from './free-port.ts'
import type { CallOptions } from './platform.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

export type PerklineProcess = {
  url: string
  /** Everything that the process has written. */
  output(): string
  /** A request of a partner; rejects when the connection breaks. */
  call(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<{ status: number; headers: Headers; text: string; body: any }>
  /** A request of the platform's operator; fails if it is refused. */
  admin(method: string, path: string, body?: unknown): Promise<any>
  /** SIGKILL, at once. */
  kill(): Promise<void>
  /** SIGSTOP: the process does nothing until `thaw` or `kill`. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
  /** SIGTERM; resolves with the exit code once the whole output has arrived. */
  stop(): Promise<number | null>
}

export type Settings = Record<string, string>

/**
 * Settings that several processes on one database share.
 * @param folder a temporary one, used by them alone
 */
export function sharedSettings(databaseUrl: string, folder: string): Settings {
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    PERKLINE_MODE: 'sandbox',
    MASTER_KEY: randomBytes(32).toString('base64'),
    OPERATOR_KEY: randomBytes(32).toString('hex'),
    RATE_LIMIT: '0',
    API_RATE_LIMIT: '0',
    LOG_LEVEL: 'info',
  }
}

/**
 * Starts a process, on a free port if the settings name none, and waits until it is ready.
 *
 * @param log an open file for its log, which is then not part of its output
 * @param command the command to run; default: all services
 * @param root the checkout of the program
 */
export async function startProcess(
  settings: Settings,
  log?: number,
  command: readonly string[] = ['serve'],
  root = checkout,
): Promise<PerklineProcess> {
  const port = settings.PORT ?? (await freePort())
  // The process runs in a folder without a `.env` file, because such a file would change the settings.
  const env = { PATH: process.env.PATH ?? '', PORT: String(port), ...settings }
  const child = spawn(join(root, 'bin', 'perkline'), command, {
    env,
    cwd: settings.DATA_DIR,
    stdio: ['ignore', log ?? 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      output += chunk
    })
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  // The last output may arrive after the process has ended. `closed` resolves when all output has arrived.
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  const url = `http://127.0.0.1:${port}`
  await ready(url, child, () => output)

  const call = callAt(url)
  const send = callAt(url, uploadTimeoutMs)

  return {
    url,
    output: () => output,
    call,
    async admin(method, path, body) {
      const csv = typeof body === 'string'
      const answer = await (csv ? send : call)(method, `/admin${path}`, {
        token: settings.OPERATOR_KEY ?? '',
        ...(csv ? { raw: body, headers: { 'content-type': 'text/csv' } } : body !== undefined && { body }),
      })
      assert.ok(answer.status < 300, `${method} /admin${path}: ${answer.status} ${answer.text}`)
      return answer.body
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGTERM')
      return (await closed)[0]
    },
  }
}

/** How long a process may take to start. The limit is high, because a machine that runs many tests at once is slow. */
const startWithinMs = 180_000

/** The time limits of a request, and of a large file on a busy machine. */
const callTimeoutMs = 20_000
const uploadTimeoutMs = 120_000

/** Sends requests to an address as a partner. */
export function callAt(url: string, timeoutMs = callTimeoutMs): PerklineProcess['call'] {
  return async (method, path, { token, body, raw, headers = {} } = {}) => {
    const answer = await exchange(url + path, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...((body !== undefined || raw !== undefined) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(raw !== undefined && { body: raw }),
      timeoutMs,
    })
    const text = answer.bytes.toString()
    const isJson = answer.headers.get('content-type')?.includes('/json')
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : answer.bytes }
  }
}

async function ready(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const giveUpAt = performance.now() + startWithinMs
  for (;;) {
    const response = await fetch(`${url}/health/ready`).catch(() => null)
    await response?.arrayBuffer()
    if (response?.status === 200) return
    if (child.exitCode !== null || performance.now() > giveUpAt) {
      child.kill('SIGKILL')
      assert.fail(`The platform did not start:\n${output()}`)
    }
    await sleep(20)
  }
}
