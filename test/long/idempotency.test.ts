/** A request with an Idempotency-Key takes effect once, and a repeat gets the first answer (contract/http.md, "Repeated requests"). */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { readKey } from '../../src/http/idempotency-key.ts'
import {
  assertRefused,
  campaignDirectory,
  campaignForm,
  createCampaign,
  ids,
  openUser,
  type Partner,
} from '../support/campaigns.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { until } from '../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform } from '../support/platform.ts'
import { callAt, sharedSettings, startProcess } from '../support/process.ts'
import { endedCampaign, formOf, line, openSides, reportOf, type Sides, uploadBank } from '../support/reconciliation.ts'
import { addCustomers, fileOf } from '../support/segments.ts'

let platform: TestPlatform
let sibling: TestPlatform
let sides: Sides
const keys = { MASTER_KEY: randomBytes(32).toString('base64'), OPERATOR_KEY: randomBytes(32).toString('hex') }
before(async () => {
  platform = await startPlatform(keys, { directory: campaignDirectory })
  sibling = await platform.sibling()
  sides = await openSides(platform)
})
after(async () => {
  await sibling.close()
  await platform.close()
})
afterEach(() => platform.call('DELETE', '/sandbox/clock'))

const path = '/cashbacks/for-merchant'
let made = 0
const newName = () => `Key ${++made}`
const create = (key: string | null, body: object, merchant: Partner = sides.grocer, at = platform): Promise<Answer> =>
  at.call('POST', path, { token: merchant.token, body, ...(key !== null && { headers: { 'idempotency-key': key } }) })
const form = (name: string) => campaignForm(platform, { name })
const named = async (name: string): Promise<number> => {
  const [row] = await platform.platform.database.query<{ count: number }>(
    'select count(*) from campaigns where name = $1',
    [name],
  )
  return row?.count ?? 0
}
const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed')

function assertSame(again: Answer, first: Answer): void {
  assert.equal(again.status, first.status, again.text)
  assert.equal(again.text, first.text, 'byte for byte')
  assert.equal(replayed(again), 'true')
  for (const name of ['content-type', 'etag', 'location'])
    assert.equal(again.headers.get(name), first.headers.get(name), name)
}

test('keys are 1 to 255 visible ASCII characters, with or without quotes', () => {
  const longest = 'k'.repeat(255)
  for (const [header, key] of [
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['a"b', 'a"b'],
    [longest, longest],
    [`"${longest}"`, longest],
    ['~!', '~!'],
    ['', null],
    ['""', null],
    ['a b', null],
    ['"a b"', null],
    ['"abc', null],
    ['"a"b"', null],
    [`${longest}k`, null],
    ['ключ', null],
    ['a, a', null],
  ] as const)
    assert.equal(readKey(header), key, header)
})

describe('create', () => {
  test('a repeat gets the first answer, and nothing is made twice', async () => {
    const name = newName()
    const body = form(name)
    const first = await create(name.replace(' ', '-'), body)
    assert.equal(first.status, 201, first.text)
    assert.equal(replayed(first), null)
    assertSame(await create(name.replace(' ', '-'), body), first)
    assertSame(await create(`"${name.replace(' ', '-')}"`, body, sides.grocer, sibling), first)
    assert.equal(await named(name), 1)
  })

  test('without a key it is a second campaign, as before', async () => {
    const name = newName()
    for (let times = 0; times < 2; times++) assert.equal((await create(null, form(name))).status, 201)
    assert.equal(await named(name), 2)
  })

  test('another body is refused, also one that is no form at all', async () => {
    const key = randomUUID()
    const name = newName()
    assert.equal((await create(key, form(name))).status, 201)
    for (const body of [form(newName()), { ...form(name), percentage: 'five' }, {}])
      assertRefused(await create(key, body), 422, /another request/)
    const raw = '{"name":'
    const broken = await sides.grocer.call('POST', path, { raw, headers: { 'idempotency-key': key } })
    assertRefused(broken, 422)
    assert.equal(broken.headers.get('perkline-error-code'), 'key-reused')
    assert.equal(await named(name), 1)
  })

  test('what is wrong with the body as a whole, or the text of the query, comes before the key', async () => {
    const key = randomUUID()
    const body = form(newName())
    const first = await create(key, body)
    assert.equal(first.status, 201)
    const raw = JSON.stringify(body)
    const json = { 'content-type': 'application/json' }
    for (const [query, text, headers, status] of [
      ['', raw, { 'content-type': 'text/plain' }, 415],
      ['', raw, { ...json, 'content-encoding': 'gzip' }, 415],
      ['', `"${'x'.repeat(17 * 1024 * 1024)}"`, json, 413],
      ['?x=%ff', raw, json, 400],
    ] as const) {
      const options = { raw: text, headers: { ...headers, 'idempotency-key': key } }
      assertRefused(await sides.grocer.call('POST', path + query, options), status)
    }
    assertSame(await create(key, body), first)
  })

  test('a refusal is not kept: the key is free again', async () => {
    const key = randomUUID()
    const name = newName()
    assertRefused(await create(key, { ...form(name), percentage: 101 }), 400)
    assertRefused(await create(key, { ...form(name), percentage: 101 }), 400)
    assert.equal((await create(key, form(name))).status, 201)
  })

  test('a key belongs to its account and its operation', async () => {
    const key = randomUUID()
    const name = newName()
    assert.equal((await create(key, form(name))).status, 201)
    const voltshop = { token: await platform.merchantToken('voltshop') } as Partner
    const other = await create(key, form(name), voltshop)
    assert.deepEqual([other.status, replayed(other)], [201, null])
    const { participantsIds, ...terms } = form(name)
    const headers = { 'idempotency-key': key }
    const own = await sides.alpha.call('POST', '/portal/cashbacks', {
      body: { ...terms, retailerId: ids.grocer },
      headers,
    })
    assert.deepEqual([own.status, replayed(own)], [201, null])
    assert.equal(await named(name), 3)
  })

  test('people and systems of one account share its keys, and a role is asked first', async () => {
    const key = randomUUID()
    const body = form(newName())
    const first = await create(key, body)
    assertSame(await create(key, body, await openUser(platform, { merchant: 'grocer' }, 'editor')), first)
    assertRefused(await create(key, body, await openUser(platform, { merchant: 'grocer' }, 'viewer')), 403)
    assertRefused(await create(key, body, sides.alpha), 403)
    assertRefused(await create(key, body, { token: 'no.token.atall' } as Partner), 401)
  })

  test('a malformed key is refused before anything else of the request', async () => {
    for (const key of ['', 'a b', '"open', 'k'.repeat(256)])
      assertRefused(await create(key, { nothing: true }), 400, [
        'Idempotency-Key must be 1 to 255 visible ASCII characters',
      ])
  })

  test('after its time the key is new, and an old answer is replaced', async () => {
    const key = randomUUID()
    const body = form(newName())
    const first = await create(key, body)
    const age = `update idempotency_answers set created_at = now() - interval '24 hours 1 second' where key = $1`
    await platform.platform.database.execute(age, [key])
    const second = await create(key, body)
    assert.equal(second.status, 201)
    assert.notEqual(second.text, first.text)
    assertSame(await create(key, body), second)
    await platform.platform.database.execute(age, [key])
    const answers = platform.platform.deps.campaigns.answers
    while (await answers.forgetOld());
    const kept = await platform.platform.database.query('select from idempotency_answers where key = $1', [key])
    assert.equal(kept.length, 0)
  })

  test('what is kept cannot be read in the database, and opens after a change of the master key', async () => {
    const own = await startPlatform(keys, { directory: campaignDirectory })
    const { grocer } = await openSides(own)
    const body = campaignForm(own)
    const find = async () => {
      const [row] = await own.platform.database.query<{ body: Buffer }>('select body from idempotency_answers')
      return row?.body ?? assert.fail()
    }
    const both = { MASTER_KEY: `${randomBytes(32).toString('base64')},${keys.MASTER_KEY}` }
    const later = await own.sibling(both)
    try {
      const first = await create('k', body, grocer, own)
      const sealed = await find()
      assert.ok(!sealed.toString('latin1').includes(first.body.id))
      // A plain hash (32 bytes) of the request would let people guess a password in it. So no fingerprint is a plain
      // hash.
      const hashes = 'select from idempotency_answers where octet_length(fingerprint) <= 32'
      assert.equal((await own.platform.database.query(hashes)).length, 0)
      const rotated = await later.call('POST', '/admin/keys/rotate', { token: keys.OPERATOR_KEY })
      assert.equal(rotated.status, 200, rotated.text)
      assert.notDeepEqual(await find(), sealed)
      const [MASTER_KEY = ''] = both.MASTER_KEY.split(',')
      const last = await own.sibling({ MASTER_KEY })
      assertSame(await create('k', body, await openSides(last).then(sides => sides.grocer), last), first)
      await last.close()
    } finally {
      await later.close()
      await own.close()
    }
  })
})

describe('at the same time', () => {
  test('twenty creates with one key at two processes: one campaign', async () => {
    for (let round = 0; round < 15; round++) {
      const key = randomUUID()
      const name = newName()
      const body = form(name)
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => create(key, body, sides.grocer, index % 2 ? sibling : platform)),
      )
      const firsts = answers.filter(answer => answer.status === 201 && replayed(answer) === null)
      assert.equal(firsts.length, 1)
      for (const answer of answers.filter(answer => !firsts.includes(answer))) {
        if (answer.status === 201) assertSame(answer, firsts[0] as Answer)
        else {
          assertRefused(answer, 409, /still running/)
          assert.equal(answer.headers.get('retry-after'), '1')
        }
      }
      assert.equal(await named(name), 1)
      assertSame(await create(key, body), firsts[0] as Answer)
    }
  })

  test('one key and two bodies: one takes effect', async () => {
    for (let round = 0; round < 10; round++) {
      const key = randomUUID()
      const names = [newName(), newName()]
      const answers = await Promise.all(names.map(name => create(key, form(name))))
      const statuses = answers.map(({ status }) => status).sort()
      assert.ok(['201,409', '201,422'].includes(String(statuses)), String(statuses))
      assert.equal((await named(names[0] ?? '')) + (await named(names[1] ?? '')), 1)
    }
  })

  test('while the first is still running the answer is 409, whatever the body', async () => {
    const key = randomUUID()
    const { database } = platform.platform
    // A transaction locks the merchant's list, so that the creation of a campaign waits for it.
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    await createCampaign(platform, {}, sides.grocer)
    const holding = database.transaction(async transaction => {
      await transaction.execute('select from merchant_lists where merchant_id = $1 for update', [ids.grocer])
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const name = newName()
    const first = create(key, form(name))
    try {
      await until('the first holds its lock', async () => {
        const locks = await database.query(
          `select from pg_locks where locktype = 'advisory' and objsubid = 1
             and database = (select oid from pg_database where datname = current_database())`,
        )
        return locks.length > 0
      })
      for (const body of [form(name), { other: true }]) {
        const answer = await create(key, body)
        assertRefused(answer, 409)
        assert.equal(answer.headers.get('perkline-error-code'), 'request-in-progress')
      }
    } finally {
      held.resolve()
      await holding
    }
    assert.equal((await first).status, 201)
    assert.equal(await named(name), 1)
  })
})

test('a process that dies before its answer is through: the repeat gets what was done', async () => {
  const settings = { ...sharedSettings(platform.databaseUrl, platform.dataDir), ...keys }
  let repeated = 0
  for (const isCommitted of [true, true, false, false]) {
    const process = await startProcess(settings)
    const proxy = await startCuttingProxy(Number(new URL(process.url).port), 1)
    const key = randomUUID()
    const name = newName()
    const body = form(name)
    const options = { token: sides.grocer.token, body, headers: { 'idempotency-key': key } }
    try {
      const asked = callAt(proxy.url)('POST', path, options).catch(() => null)
      // If `isCommitted`, the proxy cuts the connection when the answer arrives; otherwise the process is killed before
      // that.
      if (isCommitted) assert.equal(await asked, null)
      await process.kill()
      await asked
    } finally {
      await process.kill()
      await proxy.close()
    }
    // On a very busy machine, even the answer that the proxy cut off may have been a refusal.
    const wasDone = (await named(name)) === 1
    let answer = await create(key, body)
    while (answer.status === 409) answer = await create(key, body)
    assert.equal(answer.status, 201, answer.text)
    if (wasDone) assert.equal(replayed(answer), 'true')
    if (wasDone) repeated++
    assertSame(await create(key, body), answer)
    assert.equal(await named(name), 1)
  }
  assert.ok(repeated > 0)
})

describe('other operations', () => {
  const keyed = (partner: Partner, method: string, target: string, key: string) =>
    partner.call(method, target, { headers: { 'idempotency-key': key } })

  test('a repeated launch is answered as the first time with the key, and 400 without', async () => {
    const id = await createCampaign(platform, {}, sides.grocer)
    assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
    const target = `${path}/${id}/confirm`
    const first = await keyed(sides.grocer, 'POST', target, 'launch')
    assert.equal(first.status, 201, first.text)
    assertSame(await keyed(sides.grocer, 'POST', target, 'launch'), first)
    assertRefused(await sides.grocer.call('POST', target), 400)
    const other = await createCampaign(platform, {}, sides.grocer)
    assertRefused(await keyed(sides.grocer, 'POST', `${path}/${other}/confirm`, 'launch'), 422)
  })

  test('a bank’s decision does not look at the header', async () => {
    const id = await createCampaign(platform, {}, sides.grocer)
    assert.equal((await keyed(sides.alpha, 'POST', `/cashbacks/${id}/confirm`, 'a b')).status, 201)
  })

  test('accept, settle, pay and receive', async () => {
    const { grocer, alpha } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const { id } = campaign
    assert.equal((await uploadBank(alpha, id, reportOf(line(campaign, 'K-1')))).status, 201)
    for (const [partner, move] of [
      [grocer, `${id}/banks/${ids.alpha}/accept-report`],
      [grocer, `${id}/banks/${ids.alpha}/settle`],
      [grocer, `${id}/compensation-paid`],
      [alpha, `${id}/compensation-received`],
    ] as const) {
      const first = await keyed(partner, 'POST', `/portal/cashbacks/${move}`, 'move')
      assert.equal(first.status, 200, first.text)
      assertSame(await keyed(partner, 'POST', `/portal/cashbacks/${move}`, 'move'), first)
    }
  })

  test('a repeated answer has the ETag of the first one, which the next change needs', async () => {
    const manager = await openUser(platform, { merchant: 'grocer' }, 'admin_user')
    const policy = '/portal/security-policy'
    const { body: set } = await manager.call('GET', policy)
    const made = await sides.grocer.call('POST', '/partner/v1/webhook-endpoints', {
      body: { url: 'http://127.0.0.1:9/' },
    })
    assert.equal(made.status, 201, made.text)
    for (const [partner, method, target, body, next] of [
      [manager, 'PUT', policy, { ...set, sessionMinutes: 61 }, { ...set, sessionMinutes: 62 }],
      [
        sides.grocer,
        'PATCH',
        `/partner/v1/webhook-endpoints/${made.body.endpointId}`,
        { description: 'a' },
        { description: 'b' },
      ],
    ] as const) {
      const change = () => partner.call(method, target, { body, headers: { 'idempotency-key': 'tag' } })
      const first = await change()
      assert.equal(first.status, 200, first.text)
      assert.match(first.headers.get('etag') ?? '', /^"/)
      const again = await change()
      assertSame(again, first)
      const headers = { 'if-match': again.headers.get('etag') ?? '' }
      assert.equal((await partner.call(method, target, { body: next, headers })).status, 200)
      assert.equal((await partner.call(method, target, { body: next, headers })).status, 412)
    }
  })

  const upload = async (
    partner: Partner,
    method: string,
    target: string,
    file: string,
    key: string,
    comment?: string,
  ) => {
    const { raw, headers } = await formOf({ file, ...(comment && { comment }) })
    return partner.call(method, target, { raw, headers: { ...headers, 'idempotency-key': key } })
  }

  test('reports: the same file gets the first answer, another one is refused, and a trial does not look at the key', async () => {
    const { grocer, alpha } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const target = `/portal/cashbacks/${campaign.id}/bank-report`
    const file = reportOf(line(campaign, 'U-1'))
    assertRefused(await upload(alpha, 'POST', target, 'no report', 'r-1'), 400)
    const trial = await upload(alpha, 'POST', `${target}?dryRun=true`, file, 'r-1')
    assert.equal(trial.status, 200, trial.text)
    const first = await upload(alpha, 'POST', target, file, 'r-1')
    assert.equal(first.status, 201, first.text)
    assertSame(await upload(alpha, 'POST', target, file, 'r-1'), first)
    assertRefused(await upload(alpha, 'POST', target, reportOf(line(campaign, 'U-2')), 'r-1'), 422)
    assertRefused(await upload(alpha, 'POST', target, file, 'r-2'), 400)
    const answer = `/portal/cashbacks/${campaign.id}/banks/${ids.alpha}/merchant-report`
    const own = await upload(grocer, 'POST', answer, file, 'm-1', 'ours')
    assert.equal(own.status, 201, own.text)
    assertSame(await upload(grocer, 'POST', answer, file, 'm-1', 'ours'), own)
    assertRefused(await upload(grocer, 'POST', answer, file, 'm-1', 'others'), 422)
    const { body } = await alpha.call('GET', `/portal/cashbacks/${campaign.id}/reconciliation`)
    assert.deepEqual(body.banks[0].reports.length, 2)
  })

  test('ten uploads of one report with one key: it is taken once', async () => {
    const campaign = await endedCampaign(sides, [sides.alpha])
    const target = `/portal/cashbacks/${campaign.id}/bank-report`
    const file = reportOf(...Array.from({ length: 500 }, (_, index) => line(campaign, `P-${index}`)))
    const answers = await Promise.all(Array.from({ length: 10 }, () => upload(sides.alpha, 'POST', target, file, 'p')))
    const firsts = answers.filter(answer => answer.status === 201 && replayed(answer) === null)
    assert.equal(firsts.length, 1)
    for (const answer of answers.filter(answer => !firsts.includes(answer)))
      if (answer.status === 201) assertSame(answer, firsts[0] as Answer)
      else assertRefused(answer, 409)
  })

  test('a segment is formed once', async () => {
    await addCustomers(platform, 'alpha', ['K-1', 'K-2'])
    const id = await createCampaign(platform, {}, sides.grocer)
    const target = `/portal/cashbacks/${id}/segment`
    const first = await upload(sides.grocer, 'PUT', target, fileOf(['K-1']), 's')
    assert.equal(first.status, 200, first.text)
    assertSame(await upload(sides.grocer, 'PUT', target, fileOf(['K-1']), 's'), first)
    assertRefused(await upload(sides.grocer, 'PUT', target, fileOf(['K-2']), 's'), 422)
    const { body } = await sides.grocer.call('GET', `/portal/cashbacks/${id}/history`)
    assert.equal(body.filter(({ trigger }: { trigger: string }) => trigger === 'segment').length, 1)
  })

  test('a used key with an invalid request is another request, too', async () => {
    await addCustomers(platform, 'alpha', ['K-1'])
    const campaign = await endedCampaign(sides, [sides.alpha])
    const report = reportOf(line(campaign, 'X-1'))
    const id = await createCampaign(platform, {}, sides.grocer)
    for (const [partner, method, target, file] of [
      [sides.grocer, 'PUT', `/portal/cashbacks/${id}/segment`, fileOf(['K-1'])],
      [sides.alpha, 'POST', `/portal/cashbacks/${campaign.id}/bank-report`, report],
    ] as const) {
      const send = async (query: string, other: { field?: string; comment?: string; end?: number }, key: string) => {
        const { raw, headers } = await formOf({ file, ...other })
        const request = { raw: raw.slice(0, other.end), headers: { ...headers, 'idempotency-key': key } }
        return partner.call(method, target + query, request)
      }
      const first = await send('', {}, 'x')
      assert.ok([200, 201].includes(first.status), first.text)
      for (const [query, other] of [
        ['?x=1', {}],
        ['?dryRun=maybe', {}],
        ['', { field: 'report' }],
        ['', { comment: 'A field that this form does not have' }],
        ['', { end: -10 }],
      ] as const) {
        const refused = await send(query, other, 'x')
        assertRefused(refused, 422)
        assert.equal(refused.body.code, 'key-reused')
        // A new key shows what is wrong.
        assertRefused(await send(query, other, 'new'), 400)
      }
      const { raw, headers } = await formOf({ file })
      for (const [query, other, status] of [
        ['', { 'content-type': 'text/csv' }, 415],
        ['?x=1', { 'content-encoding': 'gzip' }, 415],
        ['?x=%ff', {}, 400],
      ] as const) {
        const request = { raw, headers: { ...headers, 'idempotency-key': 'x', ...other } }
        assertRefused(await partner.call(method, target + query, request), status)
      }
      assertSame(await send('', {}, 'x'), first)
    }
  })
})

test('the documents name the header, its answers, and nothing of it elsewhere', async () => {
  const { body } = await platform.call('GET', '/swagger/json')
  const taking = Object.entries<Record<string, any>>(body.paths).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [], responses }]) => {
      const isTaken = parameters.some(({ name }: { name: string }) => name.toLowerCase() === 'idempotency-key')
      assert.equal(isTaken, '422' in responses, template)
      assert.equal(
        isTaken,
        Object.values<any>(responses).some(({ headers = {} }) => 'idempotent-replayed' in headers),
        template,
      )
      return isTaken ? [`${method} ${template}`] : []
    }),
  )
  assert.deepEqual(taking.sort(), [
    'delete /portal/invitations/{invitationId}',
    'delete /portal/mfa/totp',
    'delete /portal/users/{userId}',
    'patch /portal/users/{userId}',
    'post /cashbacks/for-merchant',
    'post /cashbacks/for-merchant/{cashbackId}/confirm',
    'post /portal/cashbacks',
    'post /portal/cashbacks/{cashbackId}/bank-report',
    'post /portal/cashbacks/{cashbackId}/banks/{bankId}/accept-report',
    'post /portal/cashbacks/{cashbackId}/banks/{bankId}/merchant-report',
    'post /portal/cashbacks/{cashbackId}/banks/{bankId}/settle',
    'post /portal/cashbacks/{cashbackId}/compensation-paid',
    'post /portal/cashbacks/{cashbackId}/compensation-received',
    'post /portal/credentials',
    'post /portal/credentials/{clientId}/revoke',
    'post /portal/credentials/{clientId}/rotate',
    'post /portal/invitations',
    'post /portal/mfa/recovery-codes',
    'post /portal/mfa/totp/confirm',
    'post /portal/password',
    'post /portal/users/{userId}/reset-mfa',
    'post /portal/users/{userId}/reset-password',
    'put /portal/cashbacks/{cashbackId}/segment',
    'put /portal/language',
    'put /portal/security-policy',
  ])
})
