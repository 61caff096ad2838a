/** Every operation of every document refuses parameters of the query and fields of the body that it does not declare. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addUser } from '../../../src/access/operations.ts'
import { type Operation, operations } from '../../support/openapi-operations.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let tokens: string[]

before(async () => {
  platform = await startPlatform()
  const people = [
    { owner: { bank: 'alpha' }, role: 'ADMIN', typeAccount: 'bank' },
    { owner: { merchant: 'grocer' }, role: 'admin_user', typeAccount: 'retailer' },
  ]
  const logins = people.map(async ({ owner, role, typeAccount }) => {
    const person = { login: `closed-${typeAccount}`, password: 'correct horse battery staple' }
    await addUser({ database: platform.platform.database }, { owner, role, ...person })
    return (await platform.call('POST', '/auth/login', { body: { typeAccount, ...person } })).body.access_token
  })
  tokens = [
    platform.config.operatorKey,
    ...(await Promise.all(logins)),
    await platform.bankToken('alpha'),
    await platform.merchantToken(),
  ]
})
after(() => platform.close())

/** Calls an operation as the first caller that may call it. */
async function call({ method, path, operation }: Operation, query: string, body?: object) {
  const url = path.replaceAll(/{.*?}/g, '3f0e8a52-6c1d-4b7e-9a40-5d2c8e1f7b63') + query
  for (const token of operation.security?.length > 0 ? tokens : [null]) {
    const answer = await platform.call(method, url, { token, ...(body && { body }) })
    if (answer.status !== 401 && answer.status !== 403) return answer
  }
  throw new Error(`Nobody may call ${method} ${path}`)
}

const text = (answer: { body: unknown }) => JSON.stringify(answer.body)

test('a parameter that an operation does not declare', async () => {
  for (const one of operations) {
    const { content } = one.operation.requestBody ?? { content: { 'application/json': {} } }
    const json = content['application/json']
    // Uploads have a body that is no JSON; the tests of each upload call it.
    if (!json) continue
    const answer = await call(one, '?dryRunn=true', json.example)
    const seen = `${one.method} ${one.path}: ${text(answer)}`
    assert.ok(answer.status === 400 && text(answer).includes('dryRunn must be omitted'), seen)
  }
})

test('a body of an operation that takes none', async () => {
  const closed = operations.filter(({ operation }) => JSON.stringify(operation.requestBody ?? {}).includes('NoBody'))
  const bodyless = operations.filter(
    ({ method, operation }) => !['GET', 'HEAD'].includes(method) && !operation.requestBody,
  )
  assert.deepEqual(bodyless, [])
  assert.ok(closed.length > 20)
  for (const one of closed) {
    const answer = await call(one, '', { dryRun: true })
    assert.ok(
      answer.status === 400 && text(answer).includes('dryRun must be omitted'),
      `${one.method} ${one.path}: ${text(answer)}`,
    )
  }
})
