/** What happens when somebody tries to guess the operator's key (contract/access.md, "Wrong secrets and passwords"). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../../../src/log.ts'
import { startPlatform } from '../../support/platform.ts'

test('after 50 wrong keys an address gets 429 for wrong ones; the right one works; each refusal is logged, without the guess', async t => {
  const { lines, platform } = await startTold(t, { TRUSTED_PROXIES: '127.0.0.1' })
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

test('keys are guessed at the sandbox clock no better, where others reach the platform', async t => {
  const { lines, platform } = await startTold(t, { HOST: '0.0.0.0' })
  const ask = (token: string) => platform.call('GET', '/sandbox/clock', { token })
  const statuses: number[] = []
  for (let tried = 0; tried < 52; tried++) statuses.push((await ask(randomBytes(32).toString('hex'))).status)
  assert.deepEqual(statuses, [...Array(50).fill(401), 429, 429])
  assert.equal((await ask(platform.config.operatorKey)).status, 200)
  assert.equal(lines.join('').match(/a wrong operator key was refused/g)?.length, 52)
})

test('a failed login is a line of its own in the log, with the address, without what was typed', async t => {
  const { lines, platform } = await startTold(t)
  const login = 'typed-into-the-login'
  const password = 'typed-into-the-password'
  const body = { typeAccount: 'bank', login, password }
  assert.equal((await platform.call('POST', '/auth/login', { body })).status, 401)
  assert.equal((await platform.call('POST', '/portal/session', { body })).status, 401)
  const secret = { clientId: 'pk_typed', secret: 'typed-into-the-secret' }
  assert.equal((await platform.call('POST', '/getToken/auth', { body: secret })).status, 400)
  const events =
    lines
      .join('')
      .match(/\{[^\n]*a login failed[^\n]*/g)
      ?.map(line => JSON.parse(line)) ?? []
  assert.deepEqual(
    events.map(({ by, outcome, address }) => [by, outcome, address]),
    [
      ['password', 'refused', '127.0.0.1'],
      ['password', 'refused', '127.0.0.1'],
      ['secret', 'refused', '127.0.0.1'],
    ],
  )
  assert.doesNotMatch(lines.join(''), /typed/)
})

/** Starts a platform and collects the lines that it logs. */
async function startTold(t: TestContext, settings: Record<string, string> = {}) {
  const lines: string[] = []
  const stream = new PassThrough()
  stream.on('data', chunk => lines.push(String(chunk)))
  const platform = await startPlatform(settings, { logger: createLogger('warn', stream) })
  t.after(() => platform.close())
  return { lines, platform }
}
