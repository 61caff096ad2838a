/** Each query parameter of every API is sent twice. The error names every parameter that is not a list. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { addUser } from '../../../src/access/operations.ts'
import { snapshotUrl } from '../../support/openapi.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

type Parameter = { in: string; name: string; schema: { type?: string } }
type Operation = { parameters?: Parameter[]; requestBody?: unknown }

let platform: TestPlatform
let tokens: string[]

async function personToken(owner: { bank: string } | { merchant: string }, role: string, typeAccount: string) {
  const login = `twice-${typeAccount}`
  const password = 'correct horse battery staple'
  await addUser({ database: platform.platform.database }, { owner, login, role, password })
  const answer = await platform.call('POST', '/auth/login', { body: { typeAccount, login, password } })
  return answer.body.access_token as string
}

before(async () => {
  platform = await startPlatform()
  tokens = [
    platform.config.operatorKey,
    await platform.bankToken(),
    await platform.merchantToken(),
    await personToken({ bank: 'alpha' }, 'ADMIN', 'bank'),
    await personToken({ merchant: 'grocer' }, 'admin_user', 'retailer'),
  ]
})
after(() => platform.close())

/** Sends the request as each kind of caller. Returns the answers of those who may call the operation. */
async function answersOf(method: string, path: string) {
  const answers = []
  for (const token of tokens) {
    const answer = await platform.call(method, path, { token })
    if (answer.status !== 401 && answer.status !== 403) answers.push(answer)
  }
  return answers
}

for (const file of readdirSync(snapshotUrl('.'))) {
  const { paths } = JSON.parse(readFileSync(snapshotUrl(file), 'utf8'))
  for (const [path, methods] of Object.entries<Record<string, Operation>>(paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      const names = parameters.filter(one => one.in === 'query' && one.schema.type !== 'array').map(({ name }) => name)
      // Skips operations with a body, because they would refuse the missing body first.
      if (names.length === 0 || requestBody) continue
      test(`${method.toUpperCase()} ${path}`, async () => {
        const address = path.replaceAll(/{.*?}/g, '3f0e8a52-6c1d-4b7e-9a40-5d2c8e1f7b63')
        const query = names.map(name => `${name}=1&${name}=1`).join('&')
        const answers = await answersOf(method.toUpperCase(), `${address}?${query}`)
        assert.ok(answers.length > 0)
        for (const { status, text } of answers) {
          assert.equal(status, 400, text)
          for (const name of names) assert.match(text, new RegExp(`"${name} must be given once only"`))
        }
      })
    }
}
