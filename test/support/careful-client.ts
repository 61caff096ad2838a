/**
 * A client that follows the guides: it repeats requests that got no answer, at any process. It repeats a write with the same
 * Idempotency-Key.
 */
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { callAt, type PerklineProcess } from './process.ts'

export type Asked = { method: string; path: string; body?: unknown; token: string }
type Answer = Awaited<ReturnType<PerklineProcess['call']>>

/** How long to wait for an answer. An audit of hundreds of thousands of events takes long on a busy machine. */
const answerWithinMs = 120_000
const giveUpAfterMs = 600_000
const askAgainMs = 100

/**
 * Asks the processes in turn until one answers. After a process was killed, a client may get no connection, 503, or an
 * error because the first request still runs.
 *
 * @param processes read again for each try, because killed processes are replaced
 */
export async function ask(processes: readonly PerklineProcess[], asked: Asked): Promise<Answer> {
  const { method, path, body, token } = asked
  const headers = { 'idempotency-key': randomUUID() }
  const options = { token, ...(body !== undefined && { body }), ...(method !== 'GET' && { headers }) }
  const giveUpAt = performance.now() + giveUpAfterMs
  for (let turn = randomInt(processes.length); performance.now() < giveUpAt; turn++) {
    const { url } = processes[turn % processes.length] ?? assert.fail('no process')
    const answer = await callAt(url, answerWithinMs)(method, path, options).catch(() => null)
    if (answer && answer.status !== 503 && answer.body?.code !== 'request-in-progress') return answer
    await sleep(askAgainMs)
  }
  return assert.fail(`no answer to ${method} ${path}`)
}

/**
 * Like `ask`, but fails on any other status than these.
 * @returns the body
 */
export async function expectAnswer(
  processes: readonly PerklineProcess[],
  asked: Asked,
  ...statuses: number[]
): Promise<any> {
  const { status, body, text } = await ask(processes, asked)
  assert.ok(statuses.includes(status), `${asked.method} ${asked.path}: ${status} ${text}`)
  return body
}
