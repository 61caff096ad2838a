/**
 * Runs the command line as the operator does, and simulates an admin interface for answers that the real one can't be
 * made to give.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

export type CommandResult = { code: number | null; stdout: string; stderr: string }
export type CommandOptions = {
  env?: Record<string, string>
  input?: string | Uint8Array
  cwd?: string
  onStart?(child: ChildProcess): void
}

const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))
export const operatorKey = 'operator-key-of-at-least-32-characters'

/** Runs `perkline` in a process of its own, which inherits only the PATH from this process. */
export function perkline(args: string[], { env = {}, input = '', cwd = tmpdir(), onStart }: CommandOptions = {}) {
  return new Promise<CommandResult>((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { PATH: process.env.PATH, OPERATOR_KEY: operatorKey, PERKLINE_URL: 'http://127.0.0.1:1', ...env },
    })
    onStart?.(child)
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
      })
    // A command that reads no input may have ended before all of it is written.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', code => resolve({ code, ...output }))
  })
}

/** The commands of the operator of a platform, which may be started after this call. */
export function commandsAt(platform: () => { url: string; config: { operatorKey: string } }) {
  const run = (...args: string[]) =>
    perkline(args, { env: { PERKLINE_URL: platform().url, OPERATOR_KEY: platform().config.operatorKey } })
  /** Runs a command that must end well. @returns what it prints with --json */
  async function json(...args: string[]): Promise<any> {
    const { code, stdout, stderr } = await run(...args, '--json')
    assert.deepEqual([code, stderr], [0, ''])
    return JSON.parse(stdout)
  }
  return { run, json }
}

export type SeenRequest = { method: string; path: string; headers: IncomingMessage['headers']; body: Buffer }
export type ScriptedAnswer = { status?: number; json?: unknown; text?: string | Iterable<string> }

/** Answers every request with `answer` after reading it completely, and keeps what it received. */
export async function startScriptedPlatform(answer: (request: SeenRequest) => ScriptedAnswer) {
  const seen: SeenRequest[] = []
  const scripted = await startRawPlatform(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url: path = '', headers } = request
    const noted = { method, path, headers, body: Buffer.concat(chunks) }
    seen.push(noted)
    const { status = 200, json, text = '' } = answer(noted)
    response.writeHead(status, { 'content-type': json === undefined ? 'text/plain' : 'application/json' })
    if (json !== undefined) response.write(JSON.stringify(json))
    for (const part of typeof text === 'string' ? [text] : text)
      if (!response.write(part)) await new Promise(resolve => response.once('drain', resolve))
    response.end()
  })
  return { ...scripted, seen }
}

/** A server with scripted answers, including some that no platform should give. */
export async function startRawPlatform(handle: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      return new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

/** Runs a command against a server that gives this answer. */
export async function against(
  answer: ScriptedAnswer | ((request: SeenRequest) => ScriptedAnswer),
  args: string[],
  input = '',
) {
  const platform = await startScriptedPlatform(typeof answer === 'function' ? answer : () => answer)
  try {
    const result = await perkline(args, { input, env: { PERKLINE_URL: platform.url } })
    return { ...result, seen: platform.seen, url: platform.url }
  } finally {
    await platform.close()
  }
}

/** Fails unless the command has ended with this code and one message, and without a stack trace. */
export function assertFailed(result: CommandResult, code: 1 | 2, message: RegExp): void {
  assert.equal(result.code, code, result.stderr)
  assert.equal(result.stdout, '')
  assert.match(result.stderr, message)
  assert.doesNotMatch(result.stderr, /^\s+at /m)
}

/** A folder for files of the tests of one file, which is removed after them. */
export function filesOfTests() {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-cli-'))
  after(() => rmSync(folder, { recursive: true }))
  /** @returns the path of the file */
  const write = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  return { folder, write }
}
