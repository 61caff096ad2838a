/** The role matrix of the Partner API: every operation of its document, called by every kind of caller. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { addUser } from '../../../src/access/operations.ts'
import { snapshotUrl } from '../../support/openapi.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

type Kind = 'bank' | 'merchant' | 'platform'
type Caller = { kind: Kind; role: string; token: string }

let platform: TestPlatform
const callers: Caller[] = []

const owners = { bank: { bank: 'alpha' }, merchant: { merchant: 'grocer' }, platform: 'platform' } as const
const accounts = { bank: 'bank', merchant: 'retailer', platform: 'platform' } as const
const rolesOfPeople = {
  bank: ['ADMIN', 'EDITOR', 'VIEWER'],
  merchant: ['admin_user', 'editor', 'viewer'],
  platform: ['admin', 'viewer'],
} as const

async function personToken(kind: Kind, role: string): Promise<string> {
  const login = `${kind}-${role}`.toLowerCase()
  const password = 'correct horse battery staple'
  await addUser({ database: platform.platform.database }, { owner: owners[kind], login, role, password })
  const body = { typeAccount: accounts[kind], login, password }
  const answer = await platform.call('POST', '/auth/login', { body })
  return answer.body.access_token
}

before(async () => {
  platform = await startPlatform()
  for (const [kind, roles] of Object.entries(rolesOfPeople) as [Kind, readonly string[]][])
    for (const role of roles) callers.push({ kind, role, token: await personToken(kind, role) })
  for (const role of ['ADMIN', 'EDITOR', 'VIEWER'] as const)
    callers.push({ kind: 'bank', role, token: await platform.bankToken('alpha', role) })
  callers.push({ kind: 'merchant', role: 'gateway', token: await platform.merchantToken() })
})
after(() => platform.close())

const { paths } = JSON.parse(readFileSync(snapshotUrl('partner.json'), 'utf8'))
const operations = Object.entries<Record<string, any>>(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)

for (const { path, method, operation } of operations)
  test(`${operation.operationId} is for the roles that its document names`, async () => {
    const roles: Record<Kind, string[]> = operation['x-roles']
    const address = path.replaceAll(/{.*?}/g, '3f0e8a52-6c1d-4b7e-9a40-5d2c8e1f7b63')
    for (const { kind, role, token } of callers) {
      const { status } = await platform.call(method, address, { token })
      assert.equal(status !== 403, roles[kind].includes(role), `${kind} ${role}: ${status}`)
      assert.notEqual(status, 401)
    }
    for (const token of [null, platform.config.operatorKey, 'x'])
      assert.equal((await platform.call(method, address, { token })).status, 401)
  })
