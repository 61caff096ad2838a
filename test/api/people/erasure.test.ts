/** A person is erased (contract/people.md, "Erasing a person"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertChained, chained, platformUserToken, readEntries } from '../../support/audit-log.ts'
import { until } from '../../support/esim.ts'
import { codeOf, logInAs, openPerson, type Person, setUpTotp, tokenOfLink } from '../../support/people.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { inTurn, race } from '../../support/race.ts'

const password = 'correct horse battery staple'
let platform: TestPlatform
let manager: Person
let auditor: string
before(async () => {
  platform = await startPlatform()
  manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
  auditor = await platformUserToken(platform)
})
after(() => platform.close())

const pathOf = ({ userId }: Person) => `/portal/users/${userId}`
const disable = (person: Person) => manager.call('PATCH', pathOf(person), { disabled: true })
const erase = (person: Person, by = manager) => by.call('DELETE', pathOf(person))
const eraseByOperator = (login: string) =>
  platform.call('POST', `/admin/users/${encodeURIComponent(login)}/erase`, { token: platform.config.operatorKey })

/** Returns the names of all tables that contain this text. */
async function tablesWith(text: string): Promise<string[]> {
  const { database } = platform.platform
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const [row] = await database.query<{ found: boolean }>(
      `select exists (select from "${name}" t where position($1 in t::text) > 0) as found`,
      [text],
    )
    if (row?.found) found.push(name)
  }
  return found
}

test('only who is disabled; then nothing names the person, and the log is as it was', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
  await manager.call('PATCH', pathOf(person), { email: 'leaver@alpha.example' })
  const { secret } = await setUpTotp(person)
  await logInAs(platform, person, codeOf(secret))
  await platform.call('POST', '/auth/login', { body: { ...person, password: 'wrong password entirely' } })
  assert.equal((await manager.call('POST', `${pathOf(person)}/reset-password`)).status, 200)
  const active = await erase(person)
  assert.deepEqual([active.status, active.body.code], [409, 'conflict'])
  assert.equal((await disable(person)).status, 200)
  await chained(platform)
  const before = await assertChained(platform)

  assert.equal((await erase(person)).status, 204)
  assert.equal((await erase(person)).status, 404)
  await chained(platform)
  assert.deepEqual((await assertChained(platform)).slice(0, before.length), before)
  assert.deepEqual(await tablesWith(person.login), [])
  assert.deepEqual(await tablesWith('leaver@alpha.example'), [])
})

test('its own entry; earlier ones name an erased person', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  await disable(person)
  await erase(person)
  const entries = await readEntries(platform, auditor)
  const [entry, ...others] = entries.filter(({ action }) => action === 'user.erased').slice(-1)
  assert.deepEqual(
    [entry.object, entry.actor.id, entry.change, others],
    [{ type: 'user', id: person.userId }, manager.userId, {}, []],
  )
  const own = entries.filter(({ actor }) => actor.id === person.userId)
  assert.ok(own.length > 0)
  assert.ok(own.every(({ actor }) => actor.name === 'erased person'))
})

test('the login is free again, for another person', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  await disable(person)
  const invite = () => manager.call('POST', '/portal/invitations', { login: person.login, role: 'VIEWER' })
  assert.equal((await invite()).status, 409)
  assert.equal((await erase(person)).status, 204)
  const { body } = await invite()
  const joined = await platform.call('POST', '/portal/invitations/accept', {
    body: { token: tokenOfLink(body.link), password },
  })
  assert.equal(joined.status, 201, joined.text)
  const next = await logInAs(platform, { ...person, password })
  assert.notEqual(next.userId, person.userId)
  assert.equal((await person.call('GET', '/portal/sessions')).status, 401, 'the old token stays ended')
})

test('by who manages the account, with a fresh factor', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const [other, editor] = [
    await openPerson(platform, { bank: 'beta' }, 'ADMIN'),
    await openPerson(platform, { bank: 'alpha' }, 'EDITOR'),
  ]
  const staff = await openPerson(platform, 'platform', 'admin')
  await disable(person)
  assert.equal((await erase(person, other)).status, 404)
  assert.equal((await erase(person, editor)).status, 403)
  assert.equal((await manager.call('DELETE', '/portal/users/nobody')).status, 400)
  await platform.platform.database.execute(
    `update sessions set factor_at = now() - interval '16 minutes' where user_id = $1`,
    [staff.userId],
  )
  const stale = await erase(person, staff)
  assert.deepEqual([stale.status, stale.body.code], [401, 'mfa-needed'])
  const atAdmin = await staff.call('POST', `/admin/users/${person.login}/erase`)
  assert.equal(atAdmin.status, 401, atAdmin.text)
  const proof = { method: 'password', code: staff.password }
  assert.equal((await staff.call('POST', '/portal/session/verify', proof)).status, 200)
  assert.equal((await erase(person, staff)).status, 204)
})

test('by the operator, also the last manager', async () => {
  const person = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
  assert.equal((await eraseByOperator(person.login)).status, 409)
  const token = platform.config.operatorKey
  assert.equal((await platform.call('POST', `/admin/users/${person.login}/disable`, { token })).status, 200)
  const erased = await eraseByOperator(person.login)
  assert.deepEqual([erased.status, erased.body], [200, { login: person.login }])
  assert.equal((await eraseByOperator(person.login)).status, 404)
})

test('erased and enabled at the same moment: one of them', async () => {
  await race(['erased', 'enabled'], async lead => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    await disable(person)
    const [erased, enabled] = await Promise.all([
      inTurn(0, lead, () => erase(person)),
      inTurn(1, lead, () => manager.call('PATCH', pathOf(person), { disabled: false })),
    ])
    const statuses = `${erased.status} ${enabled.status}`
    assert.ok(['204 404', '409 200'].includes(statuses), statuses)
    return erased.status === 204 ? 'erased' : 'enabled'
  })
})

/**
 * Erases a person while a request waits for a lock.
 *
 * @param lock the statement that takes the lock for which the request waits
 */
async function eraseDuring(person: Person, lock: string, request: () => Promise<Answer>): Promise<Answer> {
  const { database } = platform.platform
  let answer: Promise<Answer> | undefined
  await database.transaction(async transaction => {
    await transaction.execute(lock)
    answer = request()
    await until('the request waits', async () => {
      const [row] = await transaction.query<{ waits: boolean }>(
        `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waits`,
      )
      return row?.waits === true
    })
    await transaction.execute('delete from portal_users where user_id = $1', [person.userId])
  })
  return answer ?? assert.fail('no request')
}

test('a login, with and without a code, and a new app of a person who is erased meanwhile: 401', async () => {
  const [plain, app] = [
    await openPerson(platform, { bank: 'alpha' }, 'VIEWER'),
    await openPerson(platform, { bank: 'alpha' }, 'VIEWER'),
  ]
  const { secret } = await setUpTotp(app)
  const bodyOf = ({ typeAccount, login, password }: Person) => ({ typeAccount, login, password })
  const notes = 'lock table user_logins in exclusive mode'
  const answer = await eraseDuring(plain, notes, () => platform.call('POST', '/auth/login', { body: bodyOf(plain) }))
  assert.equal(answer.status, 401, answer.text)
  const { challenge } = (await platform.call('POST', '/portal/session', { body: bodyOf(app) })).body
  const code = { challenge, method: 'totp', code: codeOf(secret) }
  const proven = await eraseDuring(app, notes, () => platform.call('POST', '/portal/session/verify', { body: code }))
  assert.equal(proven.status, 401, proven.text)
  for (const { login } of [plain, app]) assert.deepEqual(await tablesWith(login), [])

  const begun = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const row = `select from portal_users where user_id = '${begun.userId}' for update`
  const started = await eraseDuring(begun, row, () => begun.call('POST', '/portal/mfa/totp'))
  assert.equal(started.status, 401, started.text)
})
