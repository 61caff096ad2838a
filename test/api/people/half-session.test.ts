/**
 * A session that may only set up a second factor (contract/people.md, "Policy of an account") is refused at every other
 * operation.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { addressesOf } from '../../support/examples.ts'
import { documents, snapshotUrl } from '../../support/openapi.ts'
import { openPerson, type Person } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { browserWith, cookieOf } from '../../support/portal.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(() => platform.close())

const unknownId = '00000000-0000-4000-8000-000000000000'
const addresses = addressesOf(documents.map(({ file }) => readFileSync(snapshotUrl(file), 'utf8')))
const isAllowed = (path: string) => /^\/portal\/(?:mfa|session)/.test(path)
/**
 * Operations that need no session. In most of them the caller proves in another way who it is, such as with a password
 * or the token of a link.
 */
const withoutSession = new Set([
  'issueToken',
  'logIn',
  'openSession',
  'verifyFactor',
  'endSession',
  'acceptLink',
  'requestPasswordReset',
])

async function halfSession(manager: Person): Promise<ReturnType<typeof browserWith>> {
  const { typeAccount, login, password } = manager
  const policy = { mfa: 'required', sessionMinutes: 120, addresses: { people: [], systems: [] } }
  assert.equal((await manager.call('PUT', '/portal/security-policy', policy)).status, 200)
  const entered = await platform.call('POST', '/portal/session', { body: { typeAccount, login, password } })
  assert.equal(entered.status, 200, entered.text)
  return browserWith(platform, cookieOf(entered))
}

for (const [what, owner, role] of [
  ['a bank’s', { bank: 'alpha' }, 'ADMIN'],
  ['a merchant’s', { merchant: 'grocer' }, 'admin_user'],
  ['the platform’s', 'platform', 'admin'],
] as const)
  test(`${what}: every other operation answers as without a factor, or as to a stranger`, async () => {
    const half = await halfSession(await openPerson(platform, owner, role))
    const passed: string[] = []
    let tried = 0
    for (const [operationId, { method, path }] of addresses) {
      if (isAllowed(path) || withoutSession.has(operationId)) continue
      const answer = await half.call(method, path.replaceAll(/\{[^}]+\}/g, unknownId))
      tried++
      const isOpen = path.startsWith('/sandbox') || path.startsWith('/.well-known') || path.startsWith('/health')
      if (![401, 403].includes(answer.status) && !isOpen) passed.push(`${operationId} ${answer.status}`)
      else if (answer.status === 401 && answer.body.code !== undefined)
        assert.equal(answer.body.code, 'mfa-needed', operationId)
    }
    assert.ok(tried > 100, `${tried} operations`)
    assert.deepEqual(passed, [])
  })
