import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { campaignDirectory, createCampaign } from '../../support/campaigns.ts'
import { documents, lint, readDocuments, snapshotUrl } from '../../support/openapi.ts'
import { openPerson } from '../../support/people.ts'
import { startPlatform } from '../../support/platform.ts'
import { requestText, sendRaw } from '../../support/raw-http.ts'

test('the snapshots are what the platform serves (else: npm run openapi, and review the change)', async () => {
  const served = await readDocuments()
  for (const { file } of documents) {
    assert.equal(readFileSync(snapshotUrl(file), 'utf8'), served.get(file), file)
    assert.equal(JSON.parse(served.get(file) ?? '').openapi, '3.1.0')
  }
})

/** Every operation of the snapshots. */
function* operations(): Generator<{ file: string; path: string; method: string; name: string; operation: any }> {
  for (const { file } of documents) {
    const { paths } = JSON.parse(readFileSync(snapshotUrl(file), 'utf8'))
    for (const [path, methods] of Object.entries<Record<string, any>>(paths))
      for (const [method, operation] of Object.entries(methods))
        yield { file, path, method: method.toUpperCase(), name: `${method} ${path}`, operation }
  }
}

test('every operation has a summary, a description, and the errors that all share', () => {
  for (const { file, name, operation } of operations()) {
    assert.ok(operation.operationId && operation.summary && operation.description, name)
    assert.ok(operation.responses['500'] && operation.responses['503'], name)
    if (file === 'esim-sales.json')
      for (const code of ['401', '403', '429']) assert.ok(operation.responses[code], `${name} ${code}`)
  }
})

test('every answer declares the headers that it carries whatever its operation', () => {
  for (const { path, name, operation } of operations())
    for (const [code, { headers }] of Object.entries<any>(operation.responses)) {
      const isLater = code === '429' || code === '503'
      const expected = [
        'x-request-id',
        ...(isLater ? ['Retry-After'] : []),
        ...(path === '/getToken/auth' ? [] : ['RateLimit', 'RateLimit-Policy']),
      ]
      for (const header of expected) assert.match(headers[header].$ref, /^#\/components\/headers\//, `${name} ${code}`)
      assert.ok(headers['cache-control'], `${name} ${code}`)
    }
})

test('a 401 or 403 that comes after the request was counted has only headers that it declares', async () => {
  const platform = await startPlatform({ API_RATE_LIMIT: '1000/1000' }, { directory: campaignDirectory })
  try {
    const person = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const wrong = { typeAccount: 'bank', login: person.login, password: 'not the right password' }
    const cases = [
      ['post', '/auth/login', null, wrong, 401],
      ['post', '/portal/session', null, wrong, 401],
      ['get', '/cashbacks/for-merchant/{cashbackId}', await platform.merchantToken('voltshop'), undefined, 403],
    ] as const
    const { paths } = JSON.parse(readFileSync(snapshotUrl('perkline.json'), 'utf8'))
    const campaign = await createCampaign(platform)
    for (const [method, path, token, body, status] of cases) {
      const answer = await platform.call(method.toUpperCase(), path.replace('{cashbackId}', campaign), { token, body })
      assert.equal(answer.status, status, path)
      assert.ok(answer.headers.has('ratelimit') && answer.headers.has('ratelimit-policy'), path)
      const declared = Object.keys(paths[path][method].responses[status].headers).map(name => name.toLowerCase())
      for (const name of ['ratelimit', 'ratelimit-policy', 'cache-control']) assert.ok(declared.includes(name), path)
    }
  } finally {
    await platform.close()
  }
})

test('a 409 declares how long to wait for a running request, and keeps its other reasons', () => {
  for (const { name, operation } of operations()) {
    const takesKey = operation.parameters?.some((parameter: any) => parameter.name === 'idempotency-key')
    if (takesKey) assert.ok(operation.responses['409'].headers['Retry-After'], name)
  }
  const reasonOf = (id: string): string =>
    [...operations()].find(({ operation }) => operation.operationId === id)?.operation.responses['409'].description
  assert.match(reasonOf('createEndpoint'), /^The account has 10 endpoints\. Or: A request with this `Idempotency-Key`/)
  assert.match(reasonOf('skipDelivery'), /^It was delivered or has failed\. Or: A request with this/)
})

test('an unchanged file declares the headers that it is answered with', () => {
  for (const { name, operation } of operations())
    if (operation.responses['304'])
      for (const header of Object.keys(operation.responses['304'].headers))
        assert.ok(operation.responses['200'].headers[header] || header.startsWith('RateLimit'), `${name} ${header}`)
  const { operation } = [...operations()].find(({ operation }) => operation.operationId === 'exportStatement') ?? {}
  for (const header of ['etag', 'repr-digest']) assert.ok(operation.responses['304'].headers[header], header)
})

test('the confirm of an order declares how its e-mail went', () => {
  const { operation } = [...operations()].find(({ operation }) => operation.operationId === 'confirmOrder') ?? {}
  const { schema } = operation.responses['200'].headers['x-email-delivery']
  assert.deepEqual(schema.enum, ['sent', 'already-sent', 'unknown', 'failed'])
})

test('a body is required where the operation needs one, and only there', () => {
  const optional = [
    'confirmOrder',
    'cancelOrder',
    'confirmParticipation',
    'rejectParticipation',
    'deleteCampaign',
    'launchCampaign',
  ]
  const required = ['reserveOrder', 'createCampaign', 'editCampaign', 'issueToken', 'logIn', 'uploadBankReport']
  const bodies = new Map<string, boolean>()
  for (const { operation } of operations())
    if (operation.requestBody) bodies.set(operation.operationId, operation.requestBody.required ?? false)
  for (const operationId of optional) assert.equal(bodies.get(operationId), false, operationId)
  for (const operationId of required) assert.equal(bodies.get(operationId), true, operationId)
  for (const { file } of documents) {
    const { webhooks = {} } = JSON.parse(readFileSync(snapshotUrl(file), 'utf8'))
    for (const [type, { post }] of Object.entries<any>(webhooks)) assert.equal(post.requestBody.required, true, type)
  }
})

test('every operation with a body documents its answers to a wrong body', () => {
  for (const { name, operation } of operations())
    if (operation.requestBody) {
      // Files of stock or customers may have any length, so they are never refused with 413.
      const codes = 'text/csv' in operation.requestBody.content ? ['400', '415'] : ['400', '413', '415']
      for (const code of codes) assert.ok(operation.responses[code], `${name} ${code}`)
    }
})

test('the documents say which token an operation takes: only a person’s for those of the tag People', async () => {
  for (const { file } of documents) {
    const { description } = JSON.parse(readFileSync(snapshotUrl(file), 'utf8')).components.securitySchemes.bearerToken
    assert.match(description, /`POST \/auth\/login`/, file)
  }
  const platform = await startPlatform({ RATE_LIMIT: '1000/1000', API_RATE_LIMIT: '1000/1000' })
  try {
    const tokens = [await platform.bankToken(), await platform.merchantToken()]
    const ofPeople = [...operations()].filter(
      ({ operation }) => operation.tags.includes('People') && operation.security.length > 0,
    )
    assert.ok(ofPeople.length > 20)
    for (const { path, method, name } of ofPeople)
      for (const token of tokens) {
        const { status, body } = await platform.call(method, path.replaceAll(/{.*?}/g, 'x'), { token })
        assert.deepEqual([status, body.message], [403, 'This operation is for people, not for systems'], name)
      }
  } finally {
    await platform.close()
  }
})

/** These answers have the headers `RateLimit...` only if the request was counted before it was refused. */
const refusedEarly = [401, 403]

test('whatever body is sent, also where none is asked for, the answer is one that is documented', async () => {
  const platform = await startPlatform({ RATE_LIMIT: '1000/1000', API_RATE_LIMIT: '1000/1000' })
  try {
    const person = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const systems = [await platform.bankToken(), await platform.merchantToken()]
    const tokens = [...systems, person.token, platform.config.operatorKey]
    const json = { 'content-type': 'application/json' }
    const bodies: Record<string, [headers: Record<string, string>, body: string]> = {
      400: [json, '{'],
      413: [{ ...json, 'content-length': '1000000000' }, ''],
      415: [{ 'content-type': 'text/plain' }, 'x'],
    }
    for (const { path, method, operation, name } of operations()) {
      if (method === 'GET') continue
      const address = path.replaceAll(/{.*?}/g, '3f0e8a52-6c1d-4b7e-9a40-5d2c8e1f7b63')
      const answered = new Set<string>()
      for (const token of tokens)
        for (const [headers, body] of Object.values(bodies)) {
          const all = { authorization: `Bearer ${token}`, ...headers }
          const answer = await sendRaw(platform.url, requestText(method, address, all, body))
          const { status, headers: sent } = answer
          assert.ok(operation.responses[status], `${name} answers ${status}`)
          const { message, text = message } = status === 413 ? answer.body : {}
          if (status === 413) assert.equal(text, operation.responses[status].description, name)
          for (const header of Object.keys(operation.responses[status].headers))
            if (!(header.startsWith('RateLimit') && refusedEarly.includes(status)))
              assert.ok(sent[header.toLowerCase()], `${name} answers ${status} without ${header}`)
          answered.add(String(status))
        }
      const takesFile = operation.requestBody && !('application/json' in operation.requestBody.content)
      for (const code of takesFile ? ['415'] : Object.keys(bodies)) assert.ok(answered.has(code), `${name} ${code}`)
    }
  } finally {
    await platform.close()
  }
})

const alone = {
  'perkline.json': 'cashback',
  'esim-sales.json': 'esim',
  'partner.json': 'partner',
  'operator.json': 'admin',
} as const
for (const { file, page } of documents)
  test(`the page ${page} needs nothing but its own service, with a slash at its end and without`, async () => {
    const platform = await startPlatform({}, { directory: null, only: [alone[file]] })
    try {
      const token = platform.config.operatorKey
      for (const address of [page, `${page}/`]) {
        const { status, text } = await platform.call('GET', address, { token })
        assert.equal(status, 200, address)
        const parts = [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, part]) => part ?? '')
        assert.ok(parts.length >= 5, text)
        for (const part of parts) {
          // Resolves addresses as a browser does, even behind a proxy with another path.
          const { pathname } = new URL(part, `http://127.0.0.1${address}`)
          assert.ok(pathname.startsWith(`${page}/`), pathname)
          assert.equal((await platform.call('GET', pathname, { token })).status, 200, pathname)
        }
      }
    } finally {
      await platform.close()
    }
  })

test('the linter finds nothing to complain about', () => {
  const { status, output } = lint()
  assert.equal(status, 0, output)
})

/** Every object in a document, and its place. */
function* objects(value: unknown, place: string): Generator<{ place: string; object: Record<string, any> }> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield { place, object: value }
  for (const [name, part] of Object.entries(value)) yield* objects(part, `${place}/${name}`)
}

test('what the linter has no rule for: lists name their items, no value or tag twice, no script in a text', () => {
  for (const { file } of documents) {
    const document = JSON.parse(readFileSync(snapshotUrl(file), 'utf8'))
    const tags = document.tags.map(({ name }: { name: string }) => name)
    assert.deepEqual(tags, [...new Set(tags)], file)
    for (const { place, object } of objects(document, file)) {
      if (object.type === 'array') assert.ok(object.items, place)
      if (Array.isArray(object.enum)) assert.deepEqual(object.enum, [...new Set(object.enum)], place)
      for (const text of [object.title, object.description])
        if (typeof text === 'string') assert.doesNotMatch(text, /<script|eval\(/i, place)
    }
  }
})
