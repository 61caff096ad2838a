/** The operator's commands for people, which do what nobody else may do (contract/people.md, "People" and "Policy of an account"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { commandsAt } from '../support/command.ts'
import { openPerson, type Person } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let manager: Person
before(async () => {
  platform = await startPlatform()
  manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(() => platform.close())

const { run } = commandsAt(() => platform)

test('after a lock-out, the command removes the account’s address lists', async () => {
  const addresses = { people: ['192.0.2.0/24'], systems: ['192.0.2.0/24'] }
  const policy = { mfa: 'optional', sessionMinutes: 60, addresses, force: true }
  assert.equal((await manager.call('PUT', '/portal/security-policy', policy)).status, 200)
  assert.equal((await manager.call('GET', '/portal/users')).status, 403)
  const shown = await run('users', 'policy', '--bank', 'alpha', '--json')
  assert.deepEqual([shown.code, JSON.parse(shown.stdout).addresses], [0, addresses])
  const off = await run('users', 'policy', '--bank', 'alpha', '--addresses-off')
  assert.deepEqual([off.code, off.stderr], [0, ''])
  const { status, body } = await manager.call('GET', '/portal/security-policy')
  assert.deepEqual([status, body.addresses, body.sessionMinutes], [200, { people: [], systems: [] }, 60])
})

test('the last manager of a stolen account is shut out by the command alone', async () => {
  const staff = await openPerson(platform, 'platform', 'admin')
  const path = `/portal/users/${manager.userId}`
  assert.equal((await staff.call('PATCH', path, { disabled: true })).status, 409)
  const disabled = await run('users', 'disable', manager.login, '--json')
  assert.deepEqual([disabled.code, disabled.stderr], [0, ''])
  assert.equal((await manager.call('GET', '/portal/session')).status, 401)
  const { data } = (await staff.call('GET', '/portal/users?bank=alpha')).body
  assert.deepEqual(
    data.map(({ login, status }: { login: string; status: string }) => [login, status]),
    [[manager.login, 'disabled']],
  )
})
