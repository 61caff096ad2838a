/** Links, challenges and sessions end by real time, no matter how the sandbox's clock is moved (contract/people.md). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { callerWith, codeOf, logInAs, openPerson, type Person, setUpTotp, tokenOfLink } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

const password = 'correct horse battery staple'
let platform: TestPlatform
let manager: Person
before(async () => {
  platform = await startPlatform()
  manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(() => platform.close())

const accept = (token: string) => platform.call('POST', '/portal/invitations/accept', { body: { token, password } })
const invite = async (login: string): Promise<string> => {
  const invited = await manager.call('POST', '/portal/invitations', { login, role: 'VIEWER' })
  assert.equal(invited.status, 201, invited.text)
  return tokenOfLink(invited.body.link)
}
const challengeOf = async ({ typeAccount, login, password }: Person): Promise<string> => {
  const { status, body } = await platform.call('POST', '/portal/session', { body: { typeAccount, login, password } })
  assert.equal(status, 202)
  return body.challenge
}
const verify = (challenge: string, code: string) =>
  platform.call('POST', '/portal/session/verify', { body: { challenge, method: 'totp', code } })
const passTime = (table: string, minutes: number) =>
  platform.platform.database.execute(
    `update ${table} set created_at = created_at - make_interval(mins => $1), expires_at = expires_at - make_interval(mins => $1)`,
    [minutes],
  )

test('a link works until its last minute, and afterwards answers as a wrong one and a used one', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const reset = async () =>
    tokenOfLink((await manager.call('POST', `/portal/users/${person.userId}/reset-password`)).body.link)
  const [used, late, over] = [await invite('in-time'), await invite('at-last'), await invite('too-late')]
  assert.equal((await accept(used)).status, 201)
  await passTime('invitations', 72 * 60 - 1)
  assert.equal((await accept(late)).status, 201)
  await passTime('invitations', 1)
  const [lateReset, overReset] = [await reset(), await reset()]
  await passTime('password_resets', 24 * 60 - 1)
  await passTime('password_resets', 1)
  const refused = await Promise.all([over, used, late, lateReset, overReset, 'wrong'.repeat(9)].map(accept))
  const [first] = refused
  assert.deepEqual([first?.status, first?.body.code], [400, 'invalid'])
  for (const { status, body } of refused)
    assert.deepEqual([status, body.code, body.message], [400, 'invalid', first?.body.message])
  const { data } = (await manager.call('GET', '/portal/users')).body
  assert.ok(!data.some(({ login }: { login: string }) => login === 'too-late'), 'nobody waits for it any more')
  await logInAs(platform, person)
})

test('a challenge that is over is answered as a wrong one', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const { secret } = await setUpTotp(person)
  const challenge = await challengeOf(person)
  const wrong = await verify('x'.repeat(43), codeOf(secret))
  await passTime('login_challenges', 60)
  const over = await verify(challenge, codeOf(secret))
  assert.deepEqual([over.status, over.body.message], [401, wrong.body.message])
  assert.equal((await verify(await challengeOf(person), codeOf(secret))).status, 200, 'the code was not used up')
})

test('a moved clock locks nobody out: codes, challenges, links, sessions, throttles go on', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const { secret } = await setUpTotp(person)
  const [challenge, token] = [await challengeOf(person), await invite('before-the-move')]
  const move = await platform.call('POST', '/sandbox/clock', { body: { advance: 'P40D' } })
  assert.equal(move.status, 200, move.text)
  try {
    assert.equal((await person.call('GET', '/portal/sessions')).status, 200, 'the session goes on')
    assert.equal((await verify(challenge, codeOf(secret))).status, 200)
    assert.equal((await accept(token)).status, 201)
    const again = await logInAs(platform, person, codeOf(secret, 1))
    const renewed = await again.call('POST', '/portal/mfa/recovery-codes')
    assert.equal(renewed.status, 201, 'the factor of the login is fresh')
    const { body } = await manager.call('POST', `/portal/users/${person.userId}/reset-password`)
    const hours = (Date.parse(body.expiresAt) - Date.now()) / 3_600_000
    assert.ok(hours > 23.9 && hours <= 24)
    await invite('after-the-move')
  } finally {
    await platform.call('DELETE', '/sandbox/clock')
  }
  assert.equal((await callerWith(platform, person.token)('GET', '/portal/sessions')).status, 200)
})
