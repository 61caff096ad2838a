/**
 * With ADMIN_PORT, the interface of the operator's staff has an address of its own (contract/security.md, "Transport,
 * headers and files").
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { addUser } from '../../../src/access/operations.ts'
import { createSealer } from '../../../src/sealing.ts'
import { until } from '../../support/esim.ts'
import { mailTexts, openPerson, setUpTotp } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { callAt, type PerklineProcess } from '../../support/process.ts'

const staff = { typeAccount: 'platform', login: 'olena', password: 'a long pass phrase for olena' }
const person = { typeAccount: 'retailer', login: 'petro', password: 'a long pass phrase for petro' }
let platform: TestPlatform
let atAdmin: PerklineProcess['call']
before(async () => {
  platform = await startPlatform({ ADMIN_PORT: '0', ADMIN_URL: 'https://staff.example' })
  const { adminApp } = platform.platform
  assert.ok(adminApp)
  atAdmin = callAt(await adminApp.listen({ host: '127.0.0.1', port: 0 }))
  const { database } = platform.platform
  await addUser({ database }, { owner: 'platform', role: 'admin', login: staff.login, password: staff.password })
  await addUser(
    { database },
    { owner: { merchant: 'grocer' }, role: 'admin_user', login: person.login, password: person.password },
  )
})
after(() => platform.close())

test('the admin interface and its document are there, and nowhere else, not even for the operator’s key', async () => {
  const token = platform.config.operatorKey
  for (const path of ['/admin/stock', '/admin/swagger', '/admin/swagger/json', '/admin/nothing']) {
    const answer = await platform.call('GET', path, { token })
    assert.equal(answer.status, 404, path)
    assert.equal(answer.body.message, 'There is nothing at this path')
    assert.equal((await platform.call('GET', path)).status, 404, path)
  }
  assert.equal((await atAdmin('GET', '/admin/stock', { token })).status, 200)
  assert.equal((await atAdmin('GET', '/admin/swagger/json', { token })).status, 200)
  assert.equal((await atAdmin('GET', '/admin/stock')).status, 401)
})

test('the login of the platform’s staff is refused at the main port like a wrong one, and taken at the other', async () => {
  for (const path of ['/auth/login', '/portal/session']) {
    const right = await platform.call('POST', path, { body: staff })
    const wrong = await platform.call('POST', path, { body: { ...staff, password: 'not this one at all' } })
    assert.deepEqual([right.status, right.body], [wrong.status, wrong.body], path)
    assert.equal(right.status, 401)
    assert.equal(right.headers.get('set-cookie'), null)
    assert.equal((await atAdmin('POST', path, { body: staff })).status, 200, path)
  }
  assert.equal((await platform.call('POST', '/auth/login', { body: person })).status, 200)
})

test('a staff token is valid at the admin port alone', async () => {
  const token = (await atAdmin('POST', '/auth/login', { body: staff })).body.access_token
  assert.equal((await atAdmin('GET', '/portal/session', { token })).status, 200)
  for (const path of ['/portal/session', '/portal/users?bank=alpha', '/portal/sessions', '/partner/v1/audit-log']) {
    assert.equal((await atAdmin('GET', path, { token })).status, 200, path)
    assert.equal((await platform.call('GET', path, { token })).status, 401, path)
  }
  const proof = { method: 'password', code: staff.password }
  assert.equal((await platform.call('POST', '/portal/session/verify', { token, body: proof })).status, 401)
  const body = { login: 'guest', role: 'ADMIN' }
  assert.equal((await platform.call('POST', '/portal/invitations?bank=alpha', { token, body })).status, 401)
})

test('a right staff password counts as a failure at the main port: the throttle does not tell it from a wrong one', async () => {
  const login = 'guessed'
  const password = 'a long pass phrase for guessed'
  await addUser({ database: platform.platform.database }, { owner: 'platform', role: 'admin', login, password })
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt++)
    statuses.push((await platform.call('POST', '/auth/login', { body: { ...staff, login, password } })).status)
  assert.equal(statuses[0], 401)
  assert.equal(statuses.at(-1), 429)
})

test('the portal, its login and the health checks are at both; what partners call is at the main port only', async () => {
  for (const path of ['/app/', '/portal/session', '/health/ready', '/health/live']) {
    const [main, admin] = await Promise.all([platform.call('GET', path), atAdmin('GET', path)])
    assert.notEqual(main.status, 404, path)
    assert.equal(main.status, admin.status, path)
  }
  for (const path of ['/cashbacks/for-bank', '/retailers', '/esim/v1/operators', '/sandbox/clock']) {
    assert.notEqual((await platform.call('GET', path)).status, 404, path)
    assert.equal((await atAdmin('GET', path)).status, 404, path)
  }
  assert.equal((await atAdmin('POST', '/getToken/auth', { body: { clientId: 'a', secret: 'b' } })).status, 404)
})

test('links of the platform’s people lead to its own address, and set a password there alone', async () => {
  const token = (await atAdmin('POST', '/auth/login', { body: staff })).body.access_token
  const invite = (query: string, login: string, role: string) =>
    atAdmin('POST', `/portal/invitations${query}`, { token, body: { login, role } })
  const accept = (call: typeof atAdmin, link: string, login: string) =>
    call('POST', '/portal/invitations/accept', {
      body: { token: link.split('#')[1], login, password: 'a long pass phrase for everybody' },
    })
  const { link } = (await invite('', 'new-staff', 'viewer')).body
  assert.match(link, /^https:\/\/staff\.example\/app\/join#/)
  const [refused, wrong] = [await accept(platform.call, link, 'new-staff'), await accept(platform.call, '#none', 'x')]
  assert.deepEqual([refused.status, refused.body], [wrong.status, wrong.body])
  assert.equal(refused.status, 400)
  assert.equal((await accept(atAdmin, link, 'new-staff')).status, 201)
  const { data } = (await atAdmin('GET', '/portal/users', { token })).body
  const { userId } = data.find(({ login }: { login: string }) => login === 'new-staff')
  const reset = await atAdmin('POST', `/portal/users/${userId}/reset-password`, { token })
  assert.match(reset.body.link, /^https:\/\/staff\.example\//)
  assert.equal((await accept(platform.call, reset.body.link, 'new-staff')).status, 400)
  assert.equal((await accept(atAdmin, reset.body.link, 'new-staff')).status, 201)
  const partner = (await invite('?merchant=grocer', 'new-partner', 'viewer')).body.link
  assert.ok(partner.startsWith(platform.config.publicUrl), partner)
  assert.equal((await accept(platform.call, partner, 'new-partner')).status, 201)
})

test('a forgotten password of the platform’s people is asked for at the admin port alone', async () => {
  const { database } = platform.platform
  // Keeps the worker from taking the requests, so that the test sees them.
  await database.execute(
    'create function keep_reset() returns trigger language plpgsql as $$ begin return null; end $$',
  )
  await database.execute(
    'create trigger keep_reset before delete on reset_requests for each row execute function keep_reset()',
  )
  const request = (call: typeof atAdmin, typeAccount: string, login: string) =>
    call('POST', '/portal/password-resets', { body: { typeAccount, login } })
  try {
    assert.equal((await request(platform.call, 'platform', 'asked-outside')).status, 202)
    assert.equal((await request(atAdmin, 'platform', 'asked-inside')).status, 202)
    assert.equal((await request(platform.call, 'retailer', 'asked-partner')).status, 202)
    const rows = await database.query<{ login: string }>('select login from reset_requests order by login')
    assert.deepEqual(
      rows.map(({ login }) => login),
      ['asked-inside', 'asked-partner'],
    )
  } finally {
    await database.execute('drop trigger keep_reset on reset_requests')
  }
})

test('mails without a link name the address at which their reader works', async () => {
  const at = { ...platform, call: atAdmin }
  const manager = await openPerson(at, 'platform', 'admin')
  const own = new URL(platform.config.publicUrl).host
  const told = async (count: number, email: string) => {
    const all = async () => (await mailTexts(platform)).filter(({ to }) => to.includes(email))
    await until(`${count} mails to ${email}`, async () => (await all()).length === count, 10_000)
    return all()
  }
  for (const [owner, person, host] of [
    ['platform', await openPerson(at, 'platform', 'viewer'), 'staff.example'],
    ['partner', await openPerson(platform, { bank: 'alpha' }, 'VIEWER'), own],
  ] as const) {
    const email = `${owner}@people.example`
    const change = async (changed: object) =>
      assert.equal((await manager.call('PATCH', `/portal/users/${person.userId}`, changed)).status, 200)
    await change({ email })
    await setUpTotp(person)
    assert.equal((await manager.call('POST', `/portal/users/${person.userId}/reset-mfa`)).status, 204)
    await change({ disabled: true })
    await change({ disabled: false })
    await change({ email: null })
    for (const { text, html } of await told(4, email))
      for (const part of [text, html])
        assert.deepEqual([part.includes(host), part.includes('staff.example')], [true, owner === 'platform'], part)
  }
  // Mails that an earlier version queued do not have the address.
  const mail = { kind: 'recovery-code-used', login: 'earlier', at: '2026-11-21T10:00:00.000Z' }
  const envelope = { to: 'earlier@people.example', language: 'en', mail }
  const mailId = randomUUID()
  const sealer = createSealer(platform.config.masterKeys, 'mail')
  await platform.platform.database.execute(
    `insert into people_mails (mail_id, user_id, sealed, state, created_at, next_at) values ($1, $2, $3, 'waiting', now(), now())`,
    [mailId, manager.userId, sealer.seal(Buffer.from(JSON.stringify(envelope)), Buffer.from(mailId))],
  )
  assert.ok((await told(1, envelope.to))[0]?.text.includes(own))
})
