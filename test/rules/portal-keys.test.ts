/** The portal's Idempotency-Keys: which requests get one, and when a repeated request gets the same one. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mock, suite, test } from 'node:test'
import { createsAnother, fetchOnce, forgetKeys, keyFor, mayBeCreated } from '../../portal/src/api/once.ts'
import { documents, snapshotUrl } from '../support/openapi.ts'

type Parameter = { name?: string; in?: string; $ref?: string }
type Operation = { parameters?: Parameter[] }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components?: { parameters?: Record<string, Parameter> }
}

/** Every operation of every document, and whether it takes a key there. */
function operations(): { method: string; path: string; isTaken: boolean }[] {
  return documents.flatMap(({ file }) => {
    const document: Document = JSON.parse(readFileSync(snapshotUrl(file), 'utf8'))
    const resolved = (parameter: Parameter) =>
      document.components?.parameters?.[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter
    const isKey = (parameter: Parameter) => resolved(parameter).name?.toLowerCase() === 'idempotency-key'
    return Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [] }]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{[^}]+\}/g, '6a1f0b9e-0000-4000-8000-000000000001'),
        isTaken: parameters.some(isKey),
      })),
    )
  })
}

test('every operation that takes an Idempotency-Key gets one from the portal, and no other does', async () => {
  const all = operations()
  assert.ok(all.filter(({ isTaken }) => isTaken).length >= 30)
  for (const { method, path, isTaken } of all) {
    const key = await keyFor({ method, url: path, content: async () => '' })
    assert.equal(key !== null, isTaken, `${method} ${path}`)
  }
})

suite('after a lost answer', () => {
  const endpoint = 'https://platform.example/partner/v1/webhook-endpoints/6a1f0b9e'
  const keys: string[] = []

  /** Sends a request; `null`: its answer gets lost. */
  async function send(method: string, url: string, body: string, status: number | null): Promise<void> {
    const answer = mock.method(globalThis, 'fetch', async (request: Request) => {
      keys.push(request.headers.get('idempotency-key') ?? '')
      if (status === null) throw new TypeError('Failed to fetch')
      return new Response(null, { status })
    })
    try {
      const sending = fetchOnce(new Request(url, { method, body }))
      await (status === null ? assert.rejects(sending) : sending)
    } finally {
      answer.mock.restore()
    }
  }
  const last = (count: number) => keys.slice(-count)

  test('the same request has the same key, until it is answered', async () => {
    await send('POST', `${endpoint}/rotate-secret`, '{}', null)
    await send('POST', `${endpoint}/rotate-secret`, '{}', 503)
    await send('POST', `${endpoint}/rotate-secret`, '{}', 200)
    await send('POST', `${endpoint}/rotate-secret`, '{}', 200)
    const [first, second, third, fourth] = last(4)
    assert.match(first ?? '', /^[0-9a-f]{32}$/)
    assert.deepEqual([second, third], [first, first])
    assert.notEqual(fourth, first)
  })

  test('it is a new request once another change of the same resource has succeeded', async () => {
    await send('POST', `${endpoint}/rotate-secret`, '{}', null)
    await send('POST', `${endpoint}/enable`, '{}', 400)
    await send('POST', `${endpoint}/rotate-secret`, '{}', null)
    await send('POST', `${endpoint}/enable`, '{}', 200)
    await send('POST', `${endpoint}/rotate-secret`, '{}', 200)
    const [first, , second, , third] = last(5)
    assert.equal(second, first)
    assert.notEqual(third, first)
  })

  test('what sets a state is always a new request, because somebody may have changed it back', async () => {
    for (const [method, url] of [
      ['POST', `${endpoint}/disable`],
      ['PATCH', endpoint],
      ['PATCH', 'https://platform.example/portal/users/6a1f0b9e'],
      ['PUT', 'https://platform.example/portal/security-policy'],
    ] as const) {
      await send(method, url, '{}', null)
      await send(method, url, '{}', 200)
      const [first, second] = last(2)
      assert.match(first ?? '', /^[0-9a-f]{32}$/)
      assert.notEqual(second, first)
    }
  })

  test('what was removed meanwhile is created by a new request', async () => {
    const credentials = 'https://platform.example/portal/credentials'
    const campaigns = 'https://platform.example/cashbacks/for-merchant'
    for (const [list, method, removal] of [
      [credentials, 'POST', `${credentials}/pk_1/revoke`],
      [campaigns, 'DELETE', `${campaigns}/6a1f0b9e`],
    ] as const) {
      await send('POST', list, '{"label":"one"}', null)
      await send(method, removal, '{}', 400)
      await send('POST', list, '{"label":"one"}', null)
      await send(method, removal, '{}', 200)
      await send('POST', list, '{"label":"one"}', 201)
      const [first, , second, , third] = last(5)
      assert.equal(second, first)
      assert.notEqual(third, first)
    }
  })

  test('a refusal that comes before the first answer is looked for does not end it', async () => {
    for (const refusal of [401, 403, 429]) {
      await send('POST', `${endpoint}/rotate-secret`, '{}', null)
      await send('POST', `${endpoint}/rotate-secret`, '{}', refusal)
      await send('POST', `${endpoint}/rotate-secret`, '{}', 200)
      const [first, , third] = last(3)
      assert.equal(third, first, String(refusal))
    }
  })

  test('a key is forgotten after ten minutes, and when another person may use the page', async t => {
    t.mock.timers.enable({ apis: ['Date'] })
    await send('POST', `${endpoint}/rotate-secret`, '{}', null)
    t.mock.timers.tick(9 * 60_000)
    await send('POST', `${endpoint}/rotate-secret`, '{}', null)
    forgetKeys()
    await send('POST', `${endpoint}/rotate-secret`, '{}', null)
    t.mock.timers.tick(11 * 60_000)
    await send('POST', `${endpoint}/rotate-secret`, '{}', 200)
    const [first, second, third, fourth] = last(4)
    assert.equal(second, first)
    assert.equal(new Set([first, third, fourth]).size, 3)
  })

  test('it stays the same request when another thing was created or changed', async () => {
    const campaigns = 'https://platform.example/cashbacks/for-merchant'
    await send('POST', campaigns, '{"name":"one"}', null)
    await send('POST', campaigns, '{"name":"other"}', 201)
    await send('POST', `${campaigns}/6a1f0b9e/confirm`, '{}', 201)
    await send('POST', campaigns, '{"name":"one"}', 201)
    const [first, , , fourth] = last(4)
    assert.equal(fourth, first)
  })

  test('other content, or the same for another account, would create another thing', async () => {
    const path = '/portal/invitations'
    const body = { login: 'olena', role: 'EDITOR' }
    assert.equal(await createsAnother(`${path}?bank=alpha`, body), false, 'nothing was sent')
    await send('POST', `https://platform.example${path}?bank=alpha`, JSON.stringify(body), null)
    assert.equal(mayBeCreated(path), true)
    assert.equal(await createsAnother(`${path}?bank=alpha`, body), false)
    assert.equal(await createsAnother(`${path}?bank=beta`, body), true)
    assert.equal(await createsAnother(path, body), true)
    assert.equal(await createsAnother(`${path}?bank=alpha`, { ...body, login: 'olen' }), true)
  })

  test('a password is never stored, not even as a hash', async t => {
    const stored = new Map<string, string>()
    const storage = {
      get length() {
        return stored.size
      },
      key: (index: number) => [...stored.keys()][index] ?? null,
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => void stored.set(name, value),
      removeItem: (name: string) => void stored.delete(name),
    }
    Object.defineProperty(globalThis, 'sessionStorage', { value: storage, configurable: true })
    // On a page without TLS, browsers have no `crypto.subtle`.
    const { subtle } = crypto
    Object.defineProperty(crypto, 'subtle', { value: undefined, configurable: true })
    t.after(() => {
      Object.defineProperty(crypto, 'subtle', { value: subtle, configurable: true })
      Reflect.deleteProperty(globalThis, 'sessionStorage')
    })
    const url = 'https://platform.example/portal/password'
    await send('POST', url, '{"current":"one","password":"another"}', null)
    assert.deepEqual([...stored], [])
    await send('POST', url, '{"current":"one","password":"another"}', 204)
    const [first, second] = last(2)
    assert.equal(second, first)
    await send('POST', `${endpoint}/rotate-secret`, '{}', null)
    assert.equal(stored.size, 1, 'other keys survive a reload')
    await send('POST', `${endpoint}/rotate-secret`, '{}', 200)
    assert.equal(stored.size, 0)
  })
})
