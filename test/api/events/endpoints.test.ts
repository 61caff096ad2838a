/** Operations on endpoints: what an endpoint may be, who may change it, and what is recorded. Deliveries: `webhooks.test.ts`. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { readEntries } from '../../support/audit-log.ts'
import { openUser } from '../../support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

/** Nobody listens there. */
const url = 'http://127.0.0.1:9/hook'
let platform: TestPlatform
let bank: { token: string }

before(async () => {
  platform = await startPlatform()
  bank = { token: await platform.bankToken() }
})
after(() => platform.close())

const call = (method: string, path: string, body?: unknown, token = bank.token): Promise<Answer> =>
  platform.call(method, `/partner/v1${path}`, { token, ...(body !== undefined && { body }) })
async function makeEndpoint(fields: object = {}) {
  const made = await call('POST', '/webhook-endpoints', { url, eventTypes: ['order.*'], ...fields })
  assert.equal(made.status, 201, made.text)
  return made.body
}
/** The error messages for a request with wrong fields. */
const toldAbout = async (method: string, path: string, body: unknown): Promise<string[]> => {
  const { status, body: told } = await call(method, path, body)
  assert.equal(status, 400)
  return told.message
}
const remove = (endpointId: string) => call('DELETE', `/webhook-endpoints/${endpointId}`)

// Removes what a failed test left behind, because the next tests would fail because of it.
afterEach(async () => {
  for (const { endpointId } of (await call('GET', '/webhook-endpoints')).body.data) await remove(endpointId)
})

test('what an endpoint may be, whose it is, and how many there are', async () => {
  for (const wrong of [
    'ftp://x.example/',
    'https://user@x.example/',
    'https://:@x.example/',
    'https://x.example/#a',
    'no url',
    'http://10.0.0.1/',
    'http://0x7f.1.2.3.4/',
    'http://[fe80::1]/',
    'http://127.0.0.1:0/',
    'http:///x',
    'http://a..b/',
    'http://evil\\@127.0.0.1/',
    'http://127.0.0.1/a\\b',
  ])
    assert.equal((await call('POST', '/webhook-endpoints', { url: wrong })).status, 400, wrong)
  assert.equal((await call('POST', '/webhook-endpoints', { url, eventTypes: ['x.y'] })).status, 400)
  assert.equal((await call('POST', '/webhook-endpoints', { url, startAfter: 1_000_000 })).status, 400)
  for (const odd of '\u034f\u061c\u200b\u200e\u2028\u2029\u202e\u2060\u2066\u2800\u3164\ue000\ufe0e\ufeff\ufff9\u{1d173}\u{e0041}\u{e0100}') {
    const refused = await call('POST', '/webhook-endpoints', { url, description: `to${odd}us` })
    assert.equal(refused.status, 400, JSON.stringify(odd))
    assert.match(refused.text, /description must be/)
  }
  const { endpointId } = await makeEndpoint({ startAfter: 0 })
  const merchant = await platform.merchantToken('grocer')
  assert.equal((await call('GET', `/webhook-endpoints/${endpointId}`, undefined, merchant)).status, 404)
  assert.equal(
    (await call('POST', '/webhook-endpoints', { url }, await platform.bankToken('alpha', 'EDITOR'))).status,
    403,
  )
  const made = [endpointId]
  for (let n = 0; n < 9; n++) made.push((await makeEndpoint()).endpointId)
  const eleventh = await call('POST', '/webhook-endpoints', { url })
  assert.deepEqual([eleventh.status, eleventh.body.code], [409, 'limit-reached'])
  for (const id of made) assert.equal((await remove(id)).status, 204)
})

test('a deletion with a key is answered again as the first time', async () => {
  const { endpointId } = await makeEndpoint()
  const headers = { 'idempotency-key': 'delete-once' }
  const path = `/partner/v1/webhook-endpoints/${endpointId}`
  const [first, again] = [
    await platform.call('DELETE', path, { token: bank.token, headers }),
    await platform.call('DELETE', path, { token: bank.token, headers }),
  ]
  assert.deepEqual([first.status, again.status, again.headers.get('idempotent-replayed')], [204, 204, 'true'])
  assert.equal((await remove(endpointId)).status, 404)
})

test('of a URL the audit log has only scheme and host', async () => {
  const { endpointId } = await makeEndpoint({ url: `${url}/s3cret?key=s3cret` })
  await call('PATCH', `/webhook-endpoints/${endpointId}`, { url: `${url}/s3cret/2` })
  await remove(endpointId)
  const entries = await readEntries(platform, bank.token, `&object=endpoint:${endpointId}`)
  const { origin } = new URL(url)
  assert.deepEqual(
    entries.map(({ action, change }) => [action, change.url ?? null]),
    [
      ['endpoint.created', [null, origin]],
      ['endpoint.changed', [origin, origin]],
      ['endpoint.deleted', null],
    ],
  )
})

test('of a secret the audit log has the fingerprint, whoever makes it', async () => {
  const { endpointId, secret } = await makeEndpoint()
  const person = await openUser(platform, { bank: 'alpha' }, 'ADMIN')
  const path = `/webhook-endpoints/${endpointId}/rotate-secret`
  const byPartner = await call('POST', path, {})
  const byPerson = await call('POST', path, {}, person.token)
  const byOperator = await platform.call('POST', `/admin${path}`, {
    token: platform.config.operatorKey,
    body: { overlap: 'PT0S' },
  })
  await platform.platform.database.execute(
    `update webhook_secrets set sealed = '\\x00' where endpoint_id = $1 and valid_until is null`,
    [endpointId],
  )
  const ofUnreadable = await call('POST', path, {})
  const answers = [byPartner, byPerson, byOperator, ofUnreadable]
  for (const { status, text } of answers) assert.equal(status, 200, text)
  const prints = [secret, ...answers.map(({ body }) => body.secret)].map(fingerprint)
  const entries = await readEntries(platform, bank.token, `&object=endpoint:${endpointId}`)
  const ends = answers.map(({ body }) => [null, body.previousValidUntil])
  assert.deepEqual(
    entries.map(({ action, change }) => [action, change]),
    [
      ['endpoint.created', { url: [null, new URL(url).origin], secret: [null, prints[0]] }],
      ['endpoint.secret_rotated', { secret: [prints[0], prints[1]], previousValidUntil: ends[0] }],
      ['endpoint.secret_rotated', { secret: [prints[1], prints[2]], previousValidUntil: ends[1] }],
      ['endpoint.secret_rotated', { secret: [prints[2], prints[3]], previousValidUntil: ends[2] }],
      // Nobody can read the old secret any more.
      ['endpoint.secret_rotated', { secret: [null, prints[4]], previousValidUntil: ends[3] }],
    ],
  )
  assert.ok(!JSON.stringify(entries).includes('whsec_'))
})

/** As a partner computes it: 8 digits of the SHA-256 of the shown secret. */
const fingerprint = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 8)

test('a person needs a factor that was proven lately', async () => {
  const person = await openUser(platform, { bank: 'alpha' }, 'ADMIN')
  const made = await call('POST', '/webhook-endpoints', { url }, person.token)
  assert.equal(made.status, 201, made.text)
  await platform.platform.database.execute(`update sessions set factor_at = factor_at - interval '16 minutes'`)
  const refused = await call('POST', `/webhook-endpoints/${made.body.endpointId}/rotate-secret`, {}, person.token)
  assert.deepEqual([refused.status, refused.body.code], [401, 'mfa-needed'])
  await remove(made.body.endpointId)
})

test('the answer about a new endpoint names its address and its version, also when it is repeated', async () => {
  const make = () =>
    platform.call('POST', '/partner/v1/webhook-endpoints', {
      token: bank.token,
      body: { url },
      headers: { 'idempotency-key': 'make-once' },
    })
  for (const { status, headers, body } of [await make(), await make()]) {
    assert.deepEqual([status, headers.get('location')], [201, `/partner/v1/webhook-endpoints/${body.endpointId}`])
    const read = await platform.call('GET', headers.get('location') ?? '', { token: bank.token })
    assert.deepEqual([read.status, read.headers.get('etag')], [200, headers.get('etag')])
  }
})

test('an account sends 100 tests a minute, also when it makes its endpoint anew', async () => {
  const token = await platform.bankToken('beta')
  const testOften = async () => {
    const made = await call('POST', '/webhook-endpoints', { url }, token)
    assert.equal(made.status, 201, made.text)
    const path = `/webhook-endpoints/${made.body.endpointId}`
    const codes: string[] = []
    for (let tested = 0; tested < 10; tested++) {
      const { status, body } = await call('POST', `${path}/test`, {}, token)
      codes.push(`${status} ${body.message ?? ''}`)
    }
    assert.deepEqual((await call('DELETE', path, { a: 1 }, token)).body.message, ['a must be omitted'])
    assert.equal((await call('DELETE', path, undefined, token)).status, 204)
    return codes
  }
  for (let round = 0; round < 10; round++) assert.deepEqual(await testOften(), Array(10).fill('202 '))
  const refused = '429 The endpoints of an account are sent 100 tests a minute at most'
  assert.deepEqual(await testOften(), Array(10).fill(refused))
})

test('all errors of an endpoint’s fields are told at once: those of the schema and those of the rules', async () => {
  const order = 'order must be one of concurrent, serial'
  const wrongUrl = 'url must be a URL that begins with https:// or http://'
  const types = 'eventTypes.0 must be a type of event or a group, not zz (GET /partner/v1/event-types lists them)'
  const wrong = { url: 'nope', order: 'x', eventTypes: ['zz'] }
  assert.deepEqual(await toldAbout('POST', '/webhook-endpoints', wrong), [order, wrongUrl, types])
  const { endpointId } = await makeEndpoint()
  const path = `/webhook-endpoints/${endpointId}`
  assert.deepEqual(await toldAbout('PATCH', path, wrong), [order, wrongUrl, types])
  assert.deepEqual(await toldAbout('PATCH', path, { url: 5, eventTypes: ['zz'] }), ['url must be a string', types])
  assert.deepEqual(await toldAbout('POST', '/webhook-endpoints', []), ['body must be an object'])
  assert.deepEqual(await toldAbout('POST', '/webhook-endpoints?x=1', { url }), ['x must be omitted'])
})

test('each change of an endpoint returns the ETag for the next one', async () => {
  const made = await call('POST', '/webhook-endpoints', { url })
  const path = `/webhook-endpoints/${made.body.endpointId}`
  const tagOf = ({ headers }: Answer) => headers.get('etag') ?? 'none'
  let tag = tagOf(made)
  for (const [action, key] of [
    ['disable', 'ended'],
    ['disable', null],
    ['enable', 'begun'],
    ['enable', null],
    ['rotate-secret', 'rotated'],
  ] as const) {
    const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': `${key}-0123456789abcdef` }
    const options = { token: bank.token, body: {}, headers }
    const done = await platform.call('POST', `/partner/v1${path}/${action}`, options)
    assert.equal(done.status, 200, done.text)
    assert.equal(tagOf(done), tagOf(await call('GET', path)), action)
    if (key !== null)
      assert.equal(tagOf(await platform.call('POST', `/partner/v1${path}/${action}`, options)), tagOf(done), 'repeated')
    const changed = await platform.call('PATCH', `/partner/v1${path}`, {
      token: bank.token,
      body: { description: `after ${action} ${key}` },
      headers: { 'if-match': tagOf(done) },
    })
    assert.equal(changed.status, 200, `${action}: ${changed.text}`)
    assert.notEqual(tagOf(changed), tag)
    tag = tagOf(changed)
  }
})

test('an If-Match that is no quoted tag is told apart from a change of the endpoint', async () => {
  const { endpointId } = await makeEndpoint()
  const path = `/partner/v1/webhook-endpoints/${endpointId}`
  const read = await platform.call('GET', path, { token: bank.token })
  const tag = read.headers.get('etag') ?? ''
  const body = { description: 'another' }
  for (const wrong of [tag.replaceAll('"', ''), 'junk', '']) {
    const refused = await platform.call('PATCH', path, { token: bank.token, headers: { 'if-match': wrong }, body })
    assert.deepEqual([refused.status, refused.body.code], [412, 'stale'], wrong)
    assert.match(refused.body.message, /or If-Match is not the quoted tag of a version: read it again$/)
  }
  const changed = await platform.call('PATCH', path, { token: bank.token, headers: { 'if-match': tag }, body })
  assert.equal(changed.status, 200, changed.text)
})

test('a port that no address has is told as such', async () => {
  for (const wrong of [
    'http://127.0.0.1:0/',
    'https://x.example:70000/',
    'http://[::1]:65536',
    'http://x.example:a/?b',
  ]) {
    const told = await toldAbout('POST', '/webhook-endpoints', { url: wrong })
    assert.deepEqual(told, ['url must be a URL with one of the ports 1-65535'], wrong)
  }
  const scheme = 'url must be a URL that begins with https:// or http://'
  for (const wrong of ['ftp://x.example:70000/', 'https://a b:70000/', 'https://[::1', 'https://:70000/'])
    assert.deepEqual(await toldAbout('POST', '/webhook-endpoints', { url: wrong }), [scheme], wrong)
})

test('a description has no control characters; one from before is still read and kept', async () => {
  const { endpointId } = await makeEndpoint({ description: 'plain' })
  const path = `/webhook-endpoints/${endpointId}`
  for (const odd of '\0\x01\x07\t\n\r\x1b\x7f\x85\x9f') {
    const wrong = { description: `to${odd}us` }
    assert.match((await toldAbout('PATCH', path, wrong))[0] ?? '', /^description must be/, JSON.stringify(odd))
    assert.equal((await call('POST', '/webhook-endpoints', { url, ...wrong })).status, 400, JSON.stringify(odd))
  }
  const old = 'to\x07\r\nus'
  await platform.platform.database.execute('update webhook_endpoints set description = $2 where endpoint_id = $1', [
    endpointId,
    old,
  ])
  assert.equal((await call('GET', path)).body.description, old)
  assert.equal((await call('GET', '/webhook-endpoints')).body.data[0].description, old)
  const changed = await call('PATCH', path, { order: 'serial' })
  assert.deepEqual([changed.status, changed.body.description, changed.body.order], [200, old, 'serial'])
})
