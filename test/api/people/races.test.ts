/**
 * A one-time code or link cannot be used twice, even when two processes get it at the same moment (contract/people.md,
 * "Invitations and links" and "Second factors").
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../../support/esim.ts'
import { codeOf, logInAs, openPerson, type Person, setUpTotp, tokenOfLink } from '../../support/people.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { race, together } from '../../support/race.ts'

const password = 'correct horse battery staple'
type At = Pick<TestPlatform, 'call'>
let platform: TestPlatform
let sibling: Awaited<ReturnType<TestPlatform['sibling']>>
let manager: Person
before(async () => {
  platform = await startPlatform()
  sibling = await platform.sibling()
  manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(async () => {
  await sibling.close()
  await platform.close()
})

/**
 * Sends this many requests at once, half of them to each process.
 * @returns how many succeeded
 */
async function atBoth(count: number, ask: (at: At, index: number) => Promise<Answer>): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) => ask(index % 2 === 0 ? platform : sibling, index)),
  )
  for (const { status, text } of answers) assert.ok([200, 201, 400, 401, 429].includes(status), text)
  return answers.filter(({ status }) => status < 300).length
}

const accountOf = ({ typeAccount, login, password }: Person) => ({ typeAccount, login, password })
const challengesOf = (person: Person, count: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { body } = await platform.call('POST', '/portal/session', { body: accountOf(person) })
      return body.challenge
    }),
  )

test('one code of an app for many challenges: one login', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const { secret } = await setUpTotp(person)
  const challenges = await challengesOf(person, 8)
  const code = codeOf(secret)
  const body = (index: number) => ({ challenge: challenges[index], method: 'totp', code })
  assert.equal(await atBoth(8, (at, index) => at.call('POST', '/portal/session/verify', { body: body(index) })), 1)
})

test('one recovery code for many challenges: one login', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const { recoveryCodes } = await setUpTotp(person)
  const challenges = await challengesOf(person, 8)
  const body = (index: number) => ({ challenge: challenges[index], method: 'recovery-code', code: recoveryCodes[0] })
  assert.equal(await atBoth(8, (at, index) => at.call('POST', '/portal/session/verify', { body: body(index) })), 1)
})

test('one challenge with many right codes: one login', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const { recoveryCodes } = await setUpTotp(person)
  const [challenge] = await challengesOf(person, 1)
  const body = (index: number) => ({ challenge, method: 'recovery-code', code: recoveryCodes[index] })
  assert.equal(await atBoth(5, (at, index) => at.call('POST', '/portal/session/verify', { body: body(index) })), 1)
  const { body: factors } = await person.call('GET', '/portal/mfa')
  assert.equal(factors.recoveryCodes.left, 9, 'only the code that was used is gone')
})

test('one link to a new password, taken many times: one new password', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const { body } = await manager.call('POST', `/portal/users/${person.userId}/reset-password`)
  const token = tokenOfLink(body.link)
  const chosen = (index: number) => `${password} ${index}`
  const winners: number[] = []
  const taken = await atBoth(8, async (at, index) => {
    const answer = await at.call('POST', '/portal/invitations/accept', { body: { token, password: chosen(index) } })
    if (answer.status === 201) winners.push(index)
    return answer
  })
  assert.equal(taken, 1)
  await logInAs(platform, { ...person, password: chosen(winners[0] ?? 0) })
})

test('disabled while logging in: no session lives on', async () => {
  await race(['in', 'out'], async lead => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    const [entered, disabled] = await together(
      // Checking a password takes a while, so the login gets a longer lead.
      lead * 8,
      () => sibling.call('POST', '/auth/login', { body: accountOf(person) }),
      () => manager.call('PATCH', `/portal/users/${person.userId}`, { disabled: true }),
    )
    assert.equal(disabled.status, 200)
    if (entered.status !== 200) return 'out'
    const token = entered.body.access_token
    assert.equal((await platform.call('GET', '/portal/sessions', { token })).status, 401)
    return 'in'
  })
})

test('a password that is replaced while it logs in begins no login that a code can finish', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  await setUpTotp(person)
  const { database } = platform.platform
  const { answer } = await database.transaction(async transaction => {
    // The login has checked the password when it waits for this table.
    await transaction.execute('lock table recovery_codes in access exclusive mode')
    const answer = sibling.call('POST', '/portal/session', { body: accountOf(person) })
    const waits = `select from pg_locks where relation = 'recovery_codes'::regclass and not granted`
    await until('the login waits', async () => (await database.query(waits)).length > 0)
    const passwords = { current: person.password, password: `${password} anew` }
    assert.equal((await person.call('POST', '/portal/password', passwords)).status, 204)
    return { answer }
  })
  const { status, text } = await answer
  assert.equal(status, 401, text)
})

test('second factors are on again while a password logs in without one: no such session lives on', async () => {
  const boss = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
  const person = await openPerson(platform, { bank: 'gamma' }, 'VIEWER')
  await setUpTotp(person)
  const set = async (mfa: string) => {
    const addresses = { people: [], systems: [] }
    const answer = await boss.call('PUT', '/portal/security-policy', { mfa, sessionMinutes: 120, addresses })
    assert.equal(answer.status, 200, answer.text)
  }
  await race(
    ['in', 'out'],
    async lead => {
      await set('off')
      const [entered] = await together(
        lead * 8,
        () => sibling.call('POST', '/auth/login', { body: accountOf(person) }),
        () => set('optional'),
      )
      if (entered.status !== 200) return 'out'
      const token = entered.body.access_token
      assert.equal((await platform.call('GET', '/portal/sessions', { token })).status, 401)
      return 'in'
    },
    22,
  )
})

test('two managers of an account lose their role at once: one stays', async () => {
  const staff = await openPerson(platform, 'platform', 'admin')
  for (let round = 0; round < 5; round++) {
    const two = [
      await openPerson(platform, { merchant: 'voltshop' }, 'admin_user'),
      await openPerson(platform, { merchant: 'voltshop' }, 'admin_user'),
    ]
    const others = (await staff.call('GET', '/portal/users?merchant=voltshop')).body.data as Record<string, string>[]
    for (const { userId, role, status } of others)
      if (role === 'admin_user' && status === 'active' && !two.some(one => one.userId === userId))
        assert.equal((await staff.call('PATCH', `/portal/users/${userId}`, { role: 'viewer' })).status, 200)
    const answers = await Promise.all(
      two.map(({ userId }) => staff.call('PATCH', `/portal/users/${userId}`, { role: 'viewer' })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  }
})
