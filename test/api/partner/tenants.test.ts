/** Another account's objects are 404, like unknown ones, at every operation of the Partner API (contract/partner-api.md, "Who calls"). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { advance, bankAt, until } from '../../support/esim.ts'
import { snapshotUrl } from '../../support/openapi.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let owner: string
let strangers: Record<string, string>
let ids: Record<string, string>

const ask = (method: string, path: string, token: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, { token, ...(body !== undefined && { body }) })

before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 5)
  owner = await platform.bankToken('alpha')
  strangers = { bank: await platform.bankToken('gamma'), merchant: await platform.merchantToken() }
  const made = await ask('POST', '/webhook-endpoints', owner, { url: 'http://127.0.0.1:1/' })
  const bank = bankAt(platform, owner)
  const { orderId } = (await bank.reserve('of-alpha')).body
  await bank.confirm(orderId)
  await advance(platform, 'P1DT2M')
  const events = async () => (await ask('GET', '/events?type=order.confirmed', owner)).body.data
  const deliveries = async () => (await ask('GET', '/webhook-deliveries', owner)).body.data
  await until('it is delivered', async () => (await deliveries()).length > 0)
  ids = {
    orderId,
    endpointId: made.body.endpointId,
    eventId: (await events())[0].id,
    deliveryId: (await deliveries())[0].deliveryId,
    statementId: (await ask('GET', '/statements/latest', owner)).body.statementId,
  }
})
after(() => platform.close())

/** The smallest valid body of each operation that needs one. */
const bodies: Record<string, unknown> = {
  changeEndpoint: { description: 'theirs' },
  replayEvents: { from: 1, only: 'all' },
}

const { paths } = JSON.parse(readFileSync(snapshotUrl('partner.json'), 'utf8'))
const operations = Object.entries<Record<string, any>>(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)

for (const { path, method, operation } of operations) {
  const { operationId, requestBody } = operation
  if (!path.includes('{')) continue
  test(`${operationId}: 404 for others`, async () => {
    const address = path
      .replace('/partner/v1', '')
      .replaceAll(/{(.*?)}/g, (_, name: string) => ids[name] ?? assert.fail(name))
    const body = requestBody ? (bodies[operationId] ?? {}) : undefined
    for (const [kind, token] of Object.entries(strangers)) {
      const { status, text } = await ask(method, address, token, body)
      const isForBanks = kind === 'merchant' && operation['x-roles'].merchant.length === 0
      assert.equal(status, isForBanks ? 403 : 404, `${kind}: ${text}`)
      for (const id of Object.values(ids)) assert.ok(!text.includes(id))
    }
    if (method === 'GET') assert.equal((await ask(method, address, owner)).status, 200)
  })
}

test('filters with the ids of others find nothing', async () => {
  const { bank = '', merchant = '' } = strangers
  assert.equal((await ask('GET', '/orders/by-external-id?externalId=of-alpha', bank)).status, 404)
  assert.deepEqual((await ask('GET', '/orders?externalId=of-alpha', bank)).body.data, [])
  for (const token of [bank, merchant])
    for (const query of [`endpointId=${ids.endpointId}`, `eventId=${ids.eventId}`]) {
      const { status, body } = await ask('GET', `/webhook-deliveries?${query}`, token)
      assert.ok(status === 404 || (status === 200 && body.data.length === 0), `${query}: ${status}`)
    }
})

test('requests of other accounts have changed nothing', async () => {
  const { body } = await ask('GET', `/webhook-endpoints/${ids.endpointId}`, owner)
  assert.deepEqual([body.status, body.description, body.secrets.length], ['enabled', null, 1])
})
