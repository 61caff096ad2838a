/**
 * A person loses access while a change of theirs is under way: the change is committed before that or not at all, even
 * with two processes (contract/people.md, "Who manages whom").
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readEntries } from '../support/audit-log.ts'
import { openPerson, type Person, tokenOfLink } from '../support/people.ts'
import { type Answer, startPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let sibling: Awaited<ReturnType<TestPlatform['sibling']>>
let admin: Person
before(async () => {
  platform = await startPlatform()
  sibling = await platform.sibling()
  admin = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(async () => {
  await sibling.close()
  await platform.close()
})

/** How many sessions of the database wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await platform.platform.database.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return row?.count ?? 0
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tried = 0; tried < 200; tried++) {
    if (await holds()) return
    await sleep(10)
  }
  assert.fail('it did not come true in time')
}

/**
 * Holds a lock until the first change waits for it and the second one waits as well, or has answered.
 * @param lock SQL that takes a lock which the first change needs at its end
 */
async function inOrder(lock: string, first: () => Promise<Answer>, second: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Promise<Answer>[] = []
  await platform.platform.database.transaction(async holder => {
    await holder.execute(lock)
    answers.push(first())
    await until(async () => (await waiting()) === 1)
    let hasAnswered = false
    answers.push(second().finally(() => (hasAnswered = true)))
    await until(async () => hasAnswered || (await waiting()) === 2)
  })
  return Promise.all(answers)
}

type Case = {
  prepare: (manager: Person) => Promise<{ lock: string; path: string; method?: string; body?: unknown }>
  action: string
}
const lockUser = (userId: string) => `select from portal_users where user_id = '${userId}' for update`
const ofPerson =
  (path: string, method: string, body?: unknown): Case['prepare'] =>
  async () => {
    const { userId } = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    return { lock: lockUser(userId), path: `/portal/users/${userId}${path}`, method, body }
  }
const ofCredential =
  (path: string): Case['prepare'] =>
  async () => {
    const { clientId } = (await admin.call('POST', '/portal/credentials', { role: 'EDITOR', label: 'one' })).body
    return { lock: `lock table credentials in share mode`, path: `/portal/credentials/${clientId}/${path}` }
  }
const policy = { mfa: 'optional', addresses: { people: [], systems: [] } }
let minutes = 20

const cases: Record<string, Case> = {
  'changes a role': { prepare: ofPerson('', 'PATCH', { role: 'EDITOR' }), action: 'user.role_changed' },
  'changes an address': { prepare: ofPerson('', 'PATCH', { email: 'x@alpha.example' }), action: 'user.changed' },
  'disables a person': { prepare: ofPerson('', 'PATCH', { disabled: true }), action: 'user.disabled' },
  'resets a password': { prepare: ofPerson('/reset-password', 'POST'), action: 'password.reset_link_made' },
  'resets a second factor': { prepare: ofPerson('/reset-mfa', 'POST'), action: 'session.ended' },
  'erases a person': {
    async prepare() {
      const { userId } = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
      assert.equal((await admin.call('PATCH', `/portal/users/${userId}`, { disabled: true })).status, 200)
      return { lock: lockUser(userId), path: `/portal/users/${userId}`, method: 'DELETE' }
    },
    action: 'user.erased',
  },
  'invites a person': {
    prepare: async ({ login }) => ({
      lock: 'lock table invitations in share mode',
      path: '/portal/invitations',
      body: { login: `${login}-invites`, role: 'ADMIN' },
    }),
    action: 'invitation.made',
  },
  'withdraws an invitation': {
    async prepare({ login }) {
      const invited = await admin.call('POST', '/portal/invitations', { login: `${login}-waits`, role: 'VIEWER' })
      const { invitationId } = invited.body
      const lock = `select from invitations where invitation_id = '${invitationId}' for update`
      return { lock, path: `/portal/invitations/${invitationId}`, method: 'DELETE' }
    },
    action: 'invitation.withdrawn',
  },
  'issues a credential': {
    prepare: async () => ({
      lock: 'lock table credentials in share mode',
      path: '/portal/credentials',
      body: { role: 'ADMIN', label: 'kept' },
    }),
    action: 'credential.issued',
  },
  'rotates a credential': { prepare: ofCredential('rotate'), action: 'credential.rotated' },
  'revokes a credential': { prepare: ofCredential('revoke'), action: 'credential.revoked' },
  'sets the policy': {
    prepare: async () => ({
      lock: 'lock table account_policies in share mode',
      path: '/portal/security-policy',
      method: 'PUT',
      body: { ...policy, sessionMinutes: minutes++ },
    }),
    action: 'policy.changed',
  },
}

const change = (userId: string, to: object) => admin.call('PATCH', `/portal/users/${userId}`, to)
const ends: Record<string, { end: (manager: Person) => Promise<Answer>; action: string }> = {
  disabled: { end: ({ userId }) => change(userId, { disabled: true }), action: 'user.disabled' },
  'given another role': { end: ({ userId }) => change(userId, { role: 'VIEWER' }), action: 'user.role_changed' },
  'disabled by the operator': {
    end: ({ login }) => platform.call('POST', `/admin/users/${login}/disable`, { token: platform.config.operatorKey }),
    action: 'user.disabled',
  },
}

for (const [name, { prepare, action }] of Object.entries(cases))
  suite(`a manager ${name}`, () => {
    for (const [how, { end, action: ending }] of Object.entries(ends))
      test(`and is ${how} meanwhile: that waits for the change`, async () => {
        const manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
        const { lock, path, method = 'POST', body } = await prepare(manager)
        const [changed, ended] = await inOrder(
          lock,
          () => sibling.call(method, path, { token: manager.token, ...(body !== undefined && { body }) }),
          () => end(manager),
        )
        assert.equal(ended?.status, 200, ended?.text)
        assert.ok([200, 201, 204].includes(changed?.status ?? 0), changed?.text)
        const told = await readEntries(platform, admin.token)
        const lastOf = (wanted: string, of: (entry: any) => boolean) =>
          told.findLast(entry => entry.action === wanted && of(entry)).accountSeq
        const changeSeq = lastOf(action, ({ actor }) => actor.id === manager.userId)
        const endSeq = lastOf(ending, ({ object }) => object.id === manager.userId)
        assert.ok(changeSeq < endSeq, 'the change comes before the end of access')
        const link = changed?.body?.link
        if (typeof link !== 'string') return
        const { status } = await accept(link)
        assert.equal(status, 400, 'its link ends with the access')
      })
  })

const accept = (link: string): Promise<Answer> =>
  platform.call('POST', '/portal/invitations/accept', {
    body: { token: tokenOfLink(link), password: 'correct horse battery staple' },
  })

test('a link no longer works after a process of the previous version has disabled the person who created it', async () => {
  const manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
  const colleague = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const invited = await manager.call('POST', '/portal/invitations', { login: `${manager.login}-late`, role: 'ADMIN' })
  const reset = await manager.call('POST', `/portal/users/${colleague.userId}/reset-password`)
  await platform.platform.database.execute('update portal_users set disabled_at = now() where user_id = $1', [
    manager.userId,
  ])
  for (const { body } of [invited, reset]) assert.equal((await accept(body.link)).status, 400)
  // A process of the previous version does not end the person's sessions. They must not work again when the person is
  // enabled.
  assert.equal((await admin.call('PATCH', `/portal/users/${manager.userId}`, { disabled: false })).status, 200)
  await until(async () => (await manager.call('GET', '/portal/session')).status === 401)
})

test('a manager who was disabled while the change waited for another one changes nothing', async () => {
  const manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
  const [disabled, issued] = await inOrder(
    lockUser(manager.userId),
    () => admin.call('PATCH', `/portal/users/${manager.userId}`, { disabled: true }),
    () =>
      sibling.call('POST', '/portal/credentials', { token: manager.token, body: { role: 'ADMIN', label: 'too late' } }),
  )
  assert.deepEqual([disabled?.status, issued?.status], [200, 401])
  const { body } = await admin.call('GET', '/portal/credentials')
  assert.ok(!body.some(({ label }: { label: string }) => label === 'too late'))
})

test('the platform’s admin loses access while changing a bank’s person: the same', async () => {
  const staff = await openPerson(platform, 'platform', 'admin')
  const colleague = await openPerson(platform, 'platform', 'admin')
  const { userId } = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
  const [changed, ended] = await inOrder(
    lockUser(userId),
    () => sibling.call('PATCH', `/portal/users/${userId}`, { token: staff.token, body: { role: 'EDITOR' } }),
    () => colleague.call('PATCH', `/portal/users/${staff.userId}`, { disabled: true }),
  )
  assert.deepEqual([changed?.status, ended?.status], [200, 200])
  const told = await readEntries(platform, colleague.token)
  const at = (object: string, action: string) =>
    told.findIndex(entry => entry.action === action && entry.object.id === object)
  assert.ok(at(userId, 'user.role_changed') < at(staff.userId, 'user.disabled'))
})

const newCredential = async () =>
  (await admin.call('POST', '/portal/credentials', { role: 'EDITOR', label: 'of staff' })).body.clientId as string
const atOperators: Record<string, () => Promise<{ lock: string; path: string; body?: unknown }>> = {
  'issues a credential': async () => ({
    lock: 'lock table credentials in share mode',
    path: '/credentials',
    body: { bank: 'alpha', role: 'ADMIN', label: 'by staff' },
  }),
  'rotates a credential': async () => ({
    lock: 'lock table credentials in share mode',
    path: `/credentials/${await newCredential()}/rotate`,
  }),
  'revokes a credential': async () => ({
    lock: 'lock table credentials in share mode',
    path: `/credentials/${await newCredential()}/revoke`,
  }),
  'adds a user': async () => ({
    lock: `select from banks where code = 'alpha' for update`,
    path: '/users',
    body: { bank: 'alpha', login: 'added-by-staff', role: 'ADMIN', password: 'correct horse battery staple' },
  }),
  'disables a user': async () => {
    const { login, userId } = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    return { lock: lockUser(userId), path: `/users/${login}/disable` }
  },
  'erases a user': async () => {
    const { login, userId } = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    assert.equal((await change(userId, { disabled: true })).status, 200)
    return { lock: lockUser(userId), path: `/users/${login}/erase` }
  },
  'takes address lists off': async () => {
    const lists = { mfa: 'optional', sessionMinutes: 90, addresses: { people: [], systems: ['127.0.0.0/8'] } }
    assert.equal((await admin.call('PUT', '/portal/security-policy', lists)).status, 200)
    return {
      lock: 'lock table account_policies in share mode',
      path: '/security-policy/addresses-off',
      body: { bank: 'alpha' },
    }
  },
}

for (const [name, prepare] of Object.entries(atOperators))
  test(`the platform’s admin ${name} at the operator’s interface, and is disabled meanwhile: the same`, async () => {
    const [staff, colleague] = [
      await openPerson(platform, 'platform', 'admin'),
      await openPerson(platform, 'platform', 'admin'),
    ]
    const { lock, path, body } = await prepare()
    const [changed, ended] = await inOrder(
      lock,
      () => sibling.call('POST', `/admin${path}`, { token: staff.token, ...(body !== undefined && { body }) }),
      () => colleague.call('PATCH', `/portal/users/${staff.userId}`, { disabled: true }),
    )
    assert.equal(ended?.status, 200, ended?.text)
    assert.ok([200, 201].includes(changed?.status ?? 0), changed?.text)
    const told = await readEntries(platform, colleague.token, `&object=user:${staff.userId}`)
    const [{ seq }] = await readEntries(platform, colleague.token, `&actor=${staff.userId}`).then(all => all.slice(-1))
    assert.ok(seq < told.findLast(({ action }) => action === 'user.disabled').seq, 'the change comes first')
  })

/** Returns the number of deadlocks so far. It waits first, because the server reports them up to a second late. */
async function deadlocks(): Promise<number> {
  await sleep(1_200)
  const [row] = await platform.platform.database.query<{ deadlocks: number }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  return row?.deadlocks ?? 0
}

test('managers who change each other at once, at two processes, never wait in a circle', async () => {
  const before = await deadlocks()
  const [one, other] = [
    await openPerson(platform, { bank: 'gamma' }, 'ADMIN'),
    await openPerson(platform, { bank: 'gamma' }, 'ADMIN'),
  ]
  const reset = (at: Pick<TestPlatform, 'call'>, by: Person, of: Person) =>
    at.call('POST', `/portal/users/${of.userId}/reset-password`, { token: by.token })
  for (let round = 0; round < 8; round++) {
    const answers = await Promise.all([
      reset(platform, one, other),
      reset(sibling, other, one),
      reset(sibling, one, other),
      reset(platform, other, one),
    ])
    for (const { status, text } of answers) assert.equal(status, 200, text)
  }
  assert.equal(await deadlocks(), before)
})
