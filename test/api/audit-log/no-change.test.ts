/**
 * A request that changes nothing leaves no entry, and an entry contains only the changes (contract/audit-log.md,
 * "Entries").
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { platformUserToken, readEntries } from '../../support/audit-log.ts'
import { logInAs, openPerson, type Person, setUpTotp, tokenOfLink } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let auditor: string
let manager: Person
before(async () => {
  platform = await startPlatform()
  auditor = await platformUserToken(platform)
  manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(() => platform.close())

/** The entries that a request leaves. */
async function entriesOf(work: () => Promise<unknown>): Promise<any[]> {
  const before = (await readEntries(platform, auditor)).length
  await work()
  return (await readEntries(platform, auditor)).slice(before)
}
const actionsOf = async (work: () => Promise<unknown>) => (await entriesOf(work)).map(({ action }) => action)

/** Sends a request that must succeed. */
async function done(answer: Promise<{ status: number; text: string; body: any }>): Promise<any> {
  const { status, text, body } = await answer
  assert.ok(status < 300, text)
  return body
}

test('a second factor that is not there is not removed', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const remove = () => done(person.call('DELETE', '/portal/mfa/totp'))
  assert.deepEqual(await actionsOf(remove), [])
  await setUpTotp(person)
  assert.deepEqual(await actionsOf(remove), ['mfa.removed'])
  const reset = () => done(manager.call('POST', `/portal/users/${person.userId}/reset-mfa`))
  assert.deepEqual(await actionsOf(reset), ['session.ended'])
  assert.deepEqual(await actionsOf(reset), [])
  await setUpTotp(await logInAs(platform, person))
  assert.deepEqual(await actionsOf(reset), ['mfa.removed'])
})

test('the language of mails is told when it changes', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const choose = (language: string) => () => done(person.call('PUT', '/portal/language', { language }))
  const [first, ...others] = await entriesOf(choose('en'))
  assert.deepEqual([first.action, first.object.id, others], ['user.changed', person.userId, []])
  assert.deepEqual(first.change, { language: [null, 'en'] })
  assert.deepEqual(await actionsOf(choose('en')), [])
  const [second] = await entriesOf(choose('uk'))
  assert.deepEqual(second.change, { language: ['en', 'uk'] })
})

test('a person who is shut out and let in again', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const change = (disabled: boolean) => () =>
    done(manager.call('PATCH', `/portal/users/${person.userId}`, { disabled }))
  const told = async (disabled: boolean) =>
    (await entriesOf(change(disabled))).map(({ action, change }) => [action, change])
  assert.deepEqual(await told(true), [['user.disabled', { disabled: [false, true] }]])
  assert.deepEqual(await told(true), [])
  assert.deepEqual(await told(false), [['user.enabled', { disabled: [true, false] }]])
})

test('a policy tells the fields that changed, from the defaults on', async () => {
  const put = (policy: object) => () => done(manager.call('PUT', '/portal/security-policy', policy))
  const policy = await done(manager.call('GET', '/portal/security-policy'))
  const { sessionMinutes } = policy
  assert.deepEqual(await actionsOf(put(policy)), [])
  const [first, ...others] = await entriesOf(put({ ...policy, sessionMinutes: sessionMinutes - 30 }))
  assert.deepEqual([first.action, others], ['policy.changed', []])
  assert.deepEqual(first.change, { sessionMinutes: [sessionMinutes, sessionMinutes - 30] })
  assert.deepEqual(await actionsOf(put({ ...policy, sessionMinutes: sessionMinutes - 30 })), [])
  const body = { bank: 'alpha' }
  const off = () =>
    done(platform.call('POST', '/admin/security-policy/addresses-off', { token: platform.config.operatorKey, body }))
  assert.deepEqual(await actionsOf(off), [])
  const systems = ['0.0.0.0/0', '::/0']
  await put({ ...policy, addresses: { people: [], systems } })()
  const [taken] = await entriesOf(off)
  assert.deepEqual(taken.change, { 'addresses.systems': [null, { added: [], removed: systems }] })
})

test('policies that are set at once: each entry begins where the one before ended', async () => {
  const policy = await done(manager.call('GET', '/portal/security-policy'))
  const put = (sessionMinutes: number) =>
    done(manager.call('PUT', '/portal/security-policy', { ...policy, sessionMinutes }))
  await put(20)
  const entries = await entriesOf(() => Promise.all([30, 40, 20, 50, 20, 60, 20, 30].map(put)))
  let last = 20
  for (const { change } of entries) {
    assert.equal(change.sessionMinutes[0], last)
    last = change.sessionMinutes[1]
  }
  assert.equal((await done(manager.call('GET', '/portal/security-policy'))).sessionMinutes, last)
})

test('an endpoint that stays as it is has not changed', async () => {
  const url = 'http://127.0.0.1:9/hook'
  const { endpointId } = await done(
    manager.call('POST', '/partner/v1/webhook-endpoints', { url, eventTypes: ['order.*'] }),
  )
  const patch = (change: object) => () =>
    done(manager.call('PATCH', `/partner/v1/webhook-endpoints/${endpointId}`, change))
  assert.deepEqual(await actionsOf(patch({ url, eventTypes: ['order.*'] })), [])
  const [changed] = await entriesOf(patch({ url, description: 'Orders' }))
  assert.deepEqual(changed.change, { description: [null, 'Orders'] })
})

test('the password is reset by who takes the link', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  let link = ''
  const make = async () => {
    link = (await done(manager.call('POST', `/portal/users/${person.userId}/reset-password`))).link
  }
  assert.deepEqual(await actionsOf(make), ['password.reset_link_made'])
  const body = { token: tokenOfLink(link), password: 'another fine long password' }
  const [entry, ...others] = await entriesOf(() => done(platform.call('POST', '/portal/invitations/accept', { body })))
  assert.deepEqual([entry.action, entry.actor.id, entry.via, others], ['password.reset', person.userId, 'portal', []])
})

test('a request without a cookie and without a known caller counts as one through the API', async () => {
  const [entry] = await entriesOf(() => done(platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1S' } })))
  assert.deepEqual([entry.action, entry.via], ['clock.moved', 'api'])
})
