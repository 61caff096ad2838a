/**
 * JSON bodies with much content. Their limits are checked before parsing, and only a few large bodies are read at the
 * same time (contract/http.md, "Request bodies").
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { gatherBody } from '../../src/http/input/gathered-body.ts'
import { readJsonAside, splitValue } from '../../src/http/input/json-pieces.ts'
import { countWaiting } from '../../src/work/concurrency-limit.ts'
import { assertRefused, campaignDirectory, campaignForm, ids } from '../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { openRaw, readRaw, requestText } from '../support/raw-http.ts'

let platform: TestPlatform
let grocer: string
let voltshop: string
let alpha: string
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await platform.merchantToken('grocer')
  voltshop = await platform.merchantToken('voltshop')
  alpha = await platform.bankToken('alpha')
})
after(() => platform.close())

const path = '/cashbacks/for-merchant'
const list = (entries: number, entry: string) => `[${Array(entries).fill(entry).join()}]`
const worst = `{"terminals":${list(5_000_000, '{}')}}`

suite('what a body may hold', () => {
  for (const [at, text] of [
    ['/getToken/auth', 'text'],
    ['/auth/login', 'message'],
    ['/portal/session', 'message'],
  ] as const)
    test(`a small body of many objects is refused by ${at} in its API’s body`, async () => {
      const answer = await platform.call('POST', at, { raw: `{"clientId":${list(20_000, '{}')}}` })
      assert.equal(answer.status, 400)
      assert.equal(answer.body[text], 'The body must have at most 500 values')
    })

  test('a campaign of more objects than any has is refused before it is parsed; others are answered meanwhile', async () => {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    let isAnswered = false
    const attack = platform.call('POST', path, { token: grocer, raw: worst }).finally(() => {
      isAnswered = true
    })
    let answered = 0
    while (!isAnswered) {
      assert.equal((await platform.call('GET', '/retailers', { token: alpha })).status, 200)
      answered++
    }
    delay.disable()
    assertRefused(await attack, 400, 'The body must have at most 60000 objects and arrays')
    assert.ok(answered > 1, `${answered} answers meanwhile`)
  })

  test('the bound is that of the route, however small the body is', async () => {
    const short = `{"terminals":${list(60_000, '{}')}}`
    assert.ok(short.length < 256 * 1024)
    for (const [method, at, token] of [
      ['POST', path, grocer],
      ['POST', '/portal/cashbacks', alpha],
    ] as const)
      assertRefused(
        await platform.call(method, at, { token, raw: short }),
        400,
        'The body must have at most 60000 objects and arrays',
      )
    const values = `{"sku":${list(1_000_000, '1')}}`
    assertRefused(
      await platform.call('POST', path, { token: grocer, raw: values }),
      400,
      'The body must have at most 1000000 values',
    )
  })

  test('a directory of more values than any has is refused before it is parsed', async () => {
    const { operatorKey: token } = platform.config
    const apply = (values: number) =>
      platform.call('POST', '/admin/directory', { token, raw: `{"files":${list(values, '1')}}` })
    const over = await apply(5_000_000)
    assert.deepEqual([over.status, over.body.message], [400, 'The body must have at most 5000000 values'])
    const under = await apply(10)
    assert.notEqual(under.body.message, over.body.message)
  })

  test('the largest possible campaign is accepted', async () => {
    const terminals = Array.from({ length: 50_000 }, (_, index) => ({
      terminal_id: `T-${index}`,
      terminal_name: `Магазин ${index}`,
      terminal_location: 'Kyiv',
      merchant_id: 'M-1',
      merchant_name: 'GROCER',
    }))
    const body = { ...campaignForm(platform), terminalsPlatform: false, terminals }
    const { status, body: created } = await platform.call('POST', path, { token: grocer, body })
    assert.equal(status, 201)
    const details = await platform.call('GET', `${path}/${created.id}`, { token: grocer })
    assert.deepEqual(details.body.terminals, terminals)
    const renamed = terminals.map(terminal => ({ ...terminal, terminal_name: 'Крамниця' }))
    const edited = await platform.call('PATCH', `${path}/${created.id}`, {
      token: grocer,
      body: { terminals: renamed },
    })
    assert.equal(edited.status, 200)
    assert.deepEqual(edited.body.terminals, renamed)
  })
})

const anything = { type: 'object', properties: { a: {}, c: {}, d: {} }, additionalProperties: false }
const typed = {
  ...anything,
  properties: Object.fromEntries(['a', 'b', 'c', 'd'].map(name => [name, { type: ['number', 'array', 'object'] }])),
}
const aside = (body: string, schema: object = typed) =>
  readJsonAside(new TextEncoder().encode(body), { bounds: { values: 10_000 }, schema })

test('a body comes back from the other process as it was read, its long lists in pieces', async () => {
  const bodies = [
    '{"a":1,"b":[],"c":{"d":[1,2]}}',
    `{"a":${list(1_234, '{"b":"ї"}')},"c":${list(500, '-0.0')},"d":${list(501, '1e400')}}`,
  ]
  for (const body of bodies) assert.deepEqual(await aside(body), JSON.parse(body))
  assert.equal(splitValue({ a: Array(1_234).fill(1) }, []).length, 4)
  const error = { name: 'DomainError', code: 'invalid' }
  await assert.rejects(aside('{"a":1,"a":2}'), { ...error, details: ['a must be given once only'] })
  await assert.rejects(aside('{'), { ...error, details: 'The body must be valid JSON' })
})

test('bodies that arrive together are read one by one; a killed process gives 503, and the next body is read', async () => {
  const read = await Promise.all([1, 2, 3].map(a => aside(`{"a":${a}}`)))
  assert.deepEqual(read, [{ a: 1 }, { a: 2 }, { a: 3 }])
  const refused = assert.rejects(aside(`{"a":["${'x'.repeat(12_000_000)}"]}`), { code: 'unavailable' })
  for (const pid of await readersOf(process.pid)) process.kill(pid, 'SIGKILL')
  await refused
  assert.deepEqual(await aside('{"a":4}'), { a: 4 })
})

const dying = (afterMs: number) => `
  import { createAsideProcess } from ${JSON.stringify(new URL('../../src/work/aside-process.ts', import.meta.url))}
  const aside = createAsideProcess(new URL(${JSON.stringify(new URL('../../src/http/input/json-process.ts', import.meta.url))}))
  const bytes = Buffer.from(JSON.stringify({ a: Array.from({ length: 300_000 }, (_, a) => ({ a })) }))
  const job = { bounds: { values: 1e9 }, schemaText: '{"type":"object"}' }
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${afterMs})
  for await (const _ of aside.pieces(job, bytes)) await new Promise(resolve => setTimeout(resolve, 500))
`

for (const afterMs of [100, 500, 1_500])
  test(`a process that is killed after ${afterMs} ms leaves no reader process and no message behind`, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', dying(afterMs)])
    // The reader process has the same stderr, so the output ends when both processes have ended.
    const output = await text(child.stderr)
    assert.equal(output, '')
  })

/** The processes that read bodies for this one. */
async function readersOf(parent: number): Promise<number[]> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')
  const pids = children.split(' ').filter(Boolean).map(Number)
  const commands = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8')))
  return pids.filter((_, index) => commands[index]?.includes('json-process'))
}

test('the other process returns only those values of a body that are read here', async () => {
  assert.deepEqual(await aside('{"a":"text","b":2,"e":[{}]}'), { a: undefined, b: 2 })
  assert.deepEqual(await aside('{"a":[{}],"c":1}', anything), {})
  for (const body of [list(2_000, '{}'), '"text"', '1', 'null']) assert.deepEqual(await aside(body), [])
})

test('a large form with many kinds of errors gets the same answer as a small one', async () => {
  const terminals = [{ terminal_id: 'T-1' }, { terminal_id: 'T-2', terminal_name: 1 }, {}, { terminal_id: '' }, 7]
  const broken = {
    name: 1,
    percentage: 101,
    dateFrom: 'soon',
    x: 1,
    terminalsPlatform: false,
    minAmount: 9,
    maxAmount: 2,
  }
  const errorsOf = async (body: object) => {
    const answer = await platform.call('POST', path, { token: grocer, body: { ...campaignForm(platform), ...body } })
    assert.equal(answer.status, 400)
    return answer.body.message
  }
  const padding = 'x'.repeat(300_000)
  assert.deepEqual(
    await errorsOf({ ...broken, terminals, description: padding }),
    await errorsOf({ ...broken, terminals, description: padding.slice(0, 700) }),
  )
  const twice = [{ terminal_id: 'T-1' }, { terminal_id: 'T-2' }, { terminal_id: 'T-1' }]
  assert.deepEqual(await errorsOf({ terminals: twice, description: padding }), [
    'description must be shorter than or equal to 666 characters',
    'terminals.2.terminal_id must be unique in the list',
  ])
})

test('while a body arrives fast, others are served between its parts, and the memory of each part is freed at once', async () => {
  const parts = Array.from({ length: 20 }, (_, index) => Buffer.alloc(64 * 1024, index))
  const payload = new Readable({ read() {}, highWaterMark: 4 * 1024 * 1024 })
  for (const part of [...parts, null]) payload.push(part)
  let turn = 0
  const turns: number[] = []
  const countTurn = (): void => {
    turn++
    others = setImmediate(countTurn)
  }
  let others = setImmediate(countTurn)
  const request = {
    headers: { 'content-length': String(20 * 64 * 1024) },
    routeOptions: { bodyLimit: 16 * 1024 * 1024 },
    bodyObserver: { add: () => turns.push(turn) },
  }
  const body = await new Promise<Buffer>((resolve, reject) =>
    gatherBody(request as unknown as FastifyRequest, payload as IncomingMessage, resolve, reject),
  )
  clearImmediate(others)
  assert.deepEqual([...body.filter((_, at) => at % 65_536 === 9)], [...parts.keys()])
  assert.deepEqual(new Set(parts.map(({ byteLength }) => byteLength)), new Set([0]))
  assert.equal(new Set(turns).size, parts.length, turns.join())
})

const large = 300_000
/** Announces a large body and sends nothing of it, or only its beginning. */
async function announce(token: string, target = path, method = 'POST'): Promise<Socket> {
  const socket = await openRaw(platform.url)
  const authorization = `Bearer ${token}`
  socket.write(
    requestText(method, target, { authorization, 'content-type': 'application/json', 'content-length': String(large) }),
  )
  return socket
}
const rest = `{"x":"${'x'.repeat(large - 8)}"}`

suite('large bodies take turns', () => {
  test('two bodies of a partner are read at once, the third after an answer; other partners are served', async () => {
    const [first, second] = [await announce(voltshop), await announce(voltshop)]
    // Large bodies of another partner need not wait for these two.
    const other = await platform.call('POST', path, { token: grocer, raw: rest })
    assert.equal(other.status, 400)
    const third = await announce(voltshop)
    third.write(rest)
    let isAnswered = false
    const answer = readRaw(third).finally(() => {
      isAnswered = true
    })
    assert.equal((await platform.call('POST', path, { token: grocer, raw: rest })).status, 400)
    assert.equal(isAnswered, false, 'the third waits')
    first.destroy()
    assert.equal((await answer).status, 400)
    for (const socket of [second, third]) socket.destroy()
    await once(second, 'close')
  })

  test('a process reads four bodies at once; others wait until one of them ends', async () => {
    const beta = await platform.bankToken('beta')
    const held = await Promise.all([
      ...[voltshop, voltshop].map(token => announce(token)),
      ...[alpha, alpha, beta, beta].map(token => announce(token, '/portal/cashbacks')),
    ])
    const waiting = async (count: number) => {
      for (const endsAt = Date.now() + 20_000; countWaiting().get('bodies') !== count; await sleep(20))
        assert.ok(Date.now() < endsAt, `${countWaiting().get('bodies')} wait`)
    }
    await waiting(2)
    await sleep(500)
    assert.equal(countWaiting().get('bodies'), 2)
    for (const socket of held) socket.destroy()
    await waiting(0)
  })

  test('role and ownership are checked before the body is read', async () => {
    const { body } = await platform.call('POST', path, { token: grocer, body: campaignForm(platform) })
    const asked: [token: string, id: string, status: number][] = [
      [alpha, body.id, 403],
      [voltshop, body.id, 403],
      [voltshop, ids.alpha, 404],
      [voltshop, 'x', 400],
      ['none', body.id, 401],
    ]
    for (const [token, id, status] of asked) {
      const socket = await announce(token, `${path}/${id}`, 'PATCH')
      assert.equal((await readRaw(socket)).status, status, id)
      socket.destroy()
    }
  })

  test('a form is refused at its end when its credential was revoked meanwhile', async () => {
    const { operatorKey } = platform.config
    const admin = (target: string, body?: object) =>
      platform.call('POST', target, { token: operatorKey, ...(body && { body }) })
    const { body: issued } = await admin('/admin/credentials', { merchant: 'voltshop', label: 'revoked' })
    const { body } = await platform.call('POST', '/getToken/auth', { body: issued })
    const socket = await announce(body.access_token)
    socket.write(rest.slice(0, 1_000))
    assert.equal((await admin(`/admin/credentials/${issued.clientId}/revoke`)).status, 200)
    const retailers = () => platform.call('GET', '/retailers', { token: body.access_token })
    while ((await retailers()).status !== 401) await sleep(20)
    socket.write(rest.slice(1_000))
    assert.equal((await readRaw(socket)).status, 401)
    socket.destroy()
  })
})
