/** Guesses of the operator's key (contract/access.md, "Wrong secrets and passwords"). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createLogger } from '../src/log.ts'
import { startPlatform } from './support/platform.ts'

test('after 50 wrong keys an address gets 429 for wrong ones; the right one works; each refusal is logged, without the guess', async t => {
  const lines: string[] = []
  const stream = new PassThrough()
  stream.on('data', chunk => lines.push(String(chunk)))
  const platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' }, { logger: createLogger('warn', stream) })
  t.after(() => platform.close())
  const ask = (token: string | null, address = '203.0.113.9') =>
    platform.call('GET', '/admin/stock', { token, headers: { 'x-forwarded-for': address } })
  const guess = () => randomBytes(32).toString('hex')
  const guesses = Array.from({ length: 55 }, guess)
  const statuses: number[] = []
  for (const key of guesses) statuses.push((await ask(key)).status)
  assert.deepEqual(statuses, [...Array(50).fill(401), ...Array(5).fill(429)])
  const refused = await ask(guess())
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.equal((await ask(platform.config.operatorKey)).status, 200)
  assert.equal((await ask(guess(), '203.0.113.10')).status, 401)
  assert.equal((await ask(null)).status, 401, 'without a key nothing is guessed')
  const told = lines.join('')
  assert.equal(told.match(/a wrong operator key was refused/g)?.length, 57)
  assert.match(told, /"address":"203\.0\.113\.9"/)
  for (const key of guesses) assert.ok(!told.includes(key))
})
