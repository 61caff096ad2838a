/** What all operations of the Partner API share (contract/partner-api.md). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { finitePage, growingPage, readCursor, writeCursor } from '../../../src/partner/lists.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform({ API_RATE_LIMIT: '1/4' })
})
after(() => platform.close())

const list = '/partner/v1/audit-log'

test('an error has the cashback body, its code and the id of the request', async () => {
  const headers = { 'x-request-id': 'my-request-1' }
  const unknown = await platform.call('GET', '/partner/v1/nothing', { headers })
  assert.deepEqual(unknown.body, {
    statusCode: 404,
    message: 'There is nothing at this path',
    error: 'Not Found',
    code: 'not-found',
    requestId: 'my-request-1',
  })
  assert.equal(unknown.headers.get('perkline-error-code'), null)
  const other = await platform.call('DELETE', list)
  assert.deepEqual(
    [other.status, other.headers.get('allow'), other.body.code],
    [405, 'GET, HEAD', 'method-not-allowed'],
  )
})

test('a query is read strictly, once it is known who calls', async () => {
  const query = `${list}?foo=1&limit=501`
  assert.equal((await platform.call('GET', query)).status, 401)
  assert.equal((await platform.call('GET', query, { token: await platform.bankToken('alpha', 'VIEWER') })).status, 403)
  const { status, body } = await platform.call('GET', query, { token: await platform.bankToken() })
  assert.equal(status, 400)
  assert.deepEqual(body.message.toSorted(), ['foo must be omitted', 'limit must be at most 500'])
  assert.equal(body.code, 'invalid')
})

test('each account has a bucket of this API for itself, whichever of its callers asks', async () => {
  const [one, two] = [await platform.bankToken('beta'), await platform.bankToken('beta')]
  const answers = await Promise.all([one, two, one, two, one, two].map(token => platform.call('GET', list, { token })))
  assert.ok(answers.some(({ status }) => status === 429))
  for (const { status, headers, body } of answers) {
    assert.equal(headers.get('ratelimit-policy'), '"account";q=4;w=4')
    if (status === 429) assert.deepEqual([headers.get('retry-after'), body.code], ['1', 'too-many'])
  }
  assert.equal((await platform.call('GET', list, { token: await platform.bankToken('gamma') })).status, 200)
  const bare = await platform.call('GET', list)
  assert.deepEqual([bare.status, bare.headers.get('ratelimit')], [401, '"account";r=4;t=0'])
})

test('its document and page need no token', async () => {
  assert.equal((await platform.call('GET', '/partner/v1/swagger')).status, 200)
  const { body } = await platform.call('GET', '/partner/v1/swagger/json')
  assert.equal(body.openapi, '3.1.0')
  assert.ok(body.webhooks)
  assert.equal((await platform.call('GET', '/')).body.documentation.partner, '/partner/v1/swagger')
})

const account = { type: 'bank', id: '6f1d0c52-7a3e-4b8c-9d21-0a5be7c4f101' } as const
const scope = { list: 'things', account, filters: { action: 'x', from: undefined }, sort: 'id' }
const kinds = ['number', 'id'] as const
const id = '9b2f1c52-6a3e-4d53-9d0f-2f8f7f0c6b11'

test('a cursor is good for its list, account, filters and sort alone, and not when it was changed', () => {
  const cursor = writeCursor(scope, [42, id])
  assert.ok(cursor.length <= 256)
  assert.deepEqual(readCursor({ ...scope, filters: { action: 'x' } }, cursor, kinds), [42, id])
  const others = [
    { ...scope, list: 'others' },
    { ...scope, account: { ...account, id: '00000000-0000-0000-0000-000000000000' } },
    { ...scope, filters: { action: 'y' } },
    { ...scope, sort: '-id' },
  ]
  for (const other of others) assert.throws(() => readCursor(other, cursor, kinds), /cursor must be the nextCursor/)
  for (let at = 0; at < cursor.length; at++) {
    const changed = `${cursor.slice(0, at)}${cursor[at] === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`
    assert.throws(() => readCursor(scope, changed, kinds), /cursor must be/, changed)
  }
  for (const odd of ['.', 'x', 'e30.x', `${cursor}.`, `${cursor} `]) assert.throws(() => readCursor(scope, odd, kinds))
})

test('a list from the newest on ends with null; one that grows gives its position back', () => {
  const positionOf = (row: number) => [row]
  const view = (row: number) => row
  const page = finitePage([3, 2, 1], { scope, limit: 2, positionOf }, view)
  assert.deepEqual(page, { data: [3, 2], nextCursor: writeCursor(scope, [2]) })
  assert.equal(finitePage([1], { scope, limit: 2, positionOf }, view).nextCursor, null)
  const empty = growingPage<number, number>([], { scope, limit: 2, positionOf, from: [7] }, view)
  assert.deepEqual(empty, { data: [], nextCursor: writeCursor(scope, [7]) })
})
