/** Sends requests from many addresses, so that no limit per address refuses them, and checks the errors of each API. */
import assert from 'node:assert/strict'
import type { Answer, CallOptions, TestPlatform } from './platform.ts'
import { type RawAnswer, requestText, sendRaw } from './raw-http.ts'

/**
 * Asserts that an answer has this status, and exactly the fields that the API of this path has in its errors.
 * @param what names the request in the message of a failure
 */
export function assertErrorBody(
  answer: Answer | RawAnswer,
  status: number,
  method: string,
  path: string,
  what = path,
): void {
  assert.equal(answer.status, status, `${method} ${what}: ${answer.text.slice(0, 300)}`)
  if (path.startsWith('/getToken')) {
    assert.deepEqual(Object.keys(answer.body), ['text'], what)
    assert.equal(typeof answer.body.text, 'string')
    return
  }
  const { message, ...rest } = answer.body
  assert.ok(typeof message === 'string' || (Array.isArray(message) && message.length > 0), what)
  if (!path.startsWith('/esim/v1')) {
    assert.deepEqual(Object.keys(rest).sort(), ['error', 'statusCode'], what)
    return
  }
  const { timestamp, error, ...fixed } = rest
  assert.deepEqual(fixed, { statusCode: status, path, method }, what)
  assert.equal(new Date(timestamp).toISOString(), timestamp)
  assert.equal(typeof error, 'string')
}

/**
 * Each request comes from a different address, because an address with too many malformed bodies is throttled.
 * @param platform returns a platform that trusts 127.0.0.1 as a proxy; called only in tests, because a hook starts the platform
 */
export function fromManyAddresses(platform: () => TestPlatform) {
  let lastAddress = 0
  const from = () => {
    lastAddress++
    return { 'x-forwarded-for': `10.1.${lastAddress >> 8}.${lastAddress & 255}` }
  }
  const call = (method: string, path: string, options?: CallOptions): Promise<Answer> =>
    platform().call(method, path, { ...options, headers: { ...from(), ...options?.headers } })
  const raw = (method: string, target: string, headers?: Record<string, string>, body?: string): Promise<RawAnswer> =>
    sendRaw(platform().url, requestText(method, target, { ...from(), ...headers }, body))
  return { from, call, raw }
}
