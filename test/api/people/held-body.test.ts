/**
 * A person loses access after the first part of a request's body was sent (contract/access.md, "Losing access"): when
 * the rest arrives, the request changes nothing.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { logInAs, openPerson, type Person, setUpTotp } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(() => platform.close())

/**
 * Sends a request except for the end of its body.
 * @returns a function that sends the end and returns the status of the answer
 */
async function hold(person: Person, method: string, path: string, body: object): Promise<() => Promise<number>> {
  const text = JSON.stringify(body)
  const sent = request(new URL(path, platform.url), {
    method,
    headers: {
      authorization: `Bearer ${person.token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
  })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.write(text.slice(0, 3))
  await once(sent, 'socket')
  return async () => {
    sent.end(text.slice(3))
    const [answer] = await answered
    answer.resume()
    return answer.statusCode ?? 0
  }
}

test('somebody who was shut out meanwhile undoes it by no request that began before', async () => {
  const [manager, thief] = [
    await openPerson(platform, { bank: 'alpha' }, 'ADMIN'),
    await openPerson(platform, { bank: 'alpha' }, 'ADMIN'),
  ]
  const held = [
    await hold(thief, 'PATCH', `/portal/users/${thief.userId}`, { disabled: false }),
    await hold(thief, 'POST', '/portal/credentials', { role: 'ADMIN', label: 'held' }),
  ]
  const disabled = await manager.call('PATCH', `/portal/users/${thief.userId}`, { disabled: true })
  assert.equal(disabled.status, 200, disabled.text)
  while ((await thief.call('GET', '/portal/users')).status !== 401) await sleep(20)
  for (const send of held) assert.equal(await send(), 401)
  const again = await platform.call('POST', '/auth/login', {
    body: { typeAccount: thief.typeAccount, login: thief.login, password: thief.password },
  })
  assert.equal(again.status, 401)
})

test('a login without the second factor ends when the account’s policy asks for factors again', async () => {
  const manager = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
  await setUpTotp(manager)
  const policy = { sessionMinutes: 120, addresses: { people: [], systems: [] } }
  const set = (mfa: string) => manager.call('PUT', '/portal/security-policy', { ...policy, mfa })
  assert.equal((await set('off')).status, 200)
  const byPassword = await logInAs(platform, manager)
  assert.equal((await byPassword.call('GET', '/portal/users')).status, 200)
  assert.equal((await set('required')).status, 200)
  while ((await byPassword.call('GET', '/portal/users')).status !== 401) await sleep(20)
})

test('a rule of the account that begins meanwhile holds at the end of a body, too', async () => {
  const manager = await openPerson(platform, { merchant: 'grocer' }, 'admin_user')
  const set = async (policy: object) => {
    const answer = await manager.call('PUT', '/portal/security-policy', { sessionMinutes: 120, ...policy })
    assert.equal(answer.status, 200, answer.text)
  }
  const outsider = await openPerson(platform, { merchant: 'grocer' }, 'editor')
  const held = await hold(outsider, 'POST', '/cashbacks/for-merchant', { name: 'held' })
  await set({ mfa: 'optional', addresses: { people: ['192.0.2.0/24'], systems: [] }, force: true })
  while ((await outsider.call('GET', '/cashbacks/for-merchant')).status !== 403) await sleep(20)
  assert.equal(await held(), 403)

  await addressesOff('grocer')
  while ((await outsider.call('GET', '/cashbacks/for-merchant')).status !== 200) await sleep(20)
  const heldAgain = await hold(outsider, 'POST', '/cashbacks/for-merchant', { name: 'held' })
  await set({ mfa: 'required', addresses: { people: [], systems: [] } })
  while ((await outsider.call('GET', '/cashbacks/for-merchant')).status !== 401) await sleep(20)
  assert.equal(await heldAgain(), 401)
})

async function addressesOff(merchant: string): Promise<void> {
  const answer = await platform.call('POST', '/admin/security-policy/addresses-off', {
    token: platform.config.operatorKey,
    body: { merchant },
  })
  assert.equal(answer.status, 200, answer.text)
}
