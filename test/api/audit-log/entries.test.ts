/**
 * The audit log's entries about credentials and users, and who may read them (contract/audit-log.md, "Entries",
 * "Reading").
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { assertChained, chained, platformUserToken, readEntries, tokenOfUser } from '../../support/audit-log.ts'
import { openPerson } from '../../support/people.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

let platform: TestPlatform
let auditor: string
let operator: { token: string }
before(async () => {
  platform = await startPlatform()
  auditor = await platformUserToken(platform)
  operator = { token: platform.config.operatorKey }
})
after(() => platform.close())

const fingerprint = (secret: string) => createHash('sha256').update(secret).digest('hex').slice(0, 8)

test('a credential tells its life to its account, without its secret', async () => {
  const issue = { bank: 'beta', role: 'ADMIN', label: 'Core' }
  const headers = { 'x-request-id': 'issue-1', 'user-agent': 'perkline-cli' }
  const { body: issued } = await platform.call('POST', '/admin/credentials', { ...operator, headers, body: issue })
  const token = (await platform.call('POST', '/getToken/auth', { body: issued })).body.access_token
  const path = `/admin/credentials/${issued.clientId}`
  const { body: rotated } = await platform.call('POST', `${path}/rotate`, { ...operator, body: { overlap: 'PT1H' } })
  const entries = await readEntries(platform, token, `&object=credential:${issued.clientId}`)
  assert.deepEqual(
    entries.map(({ at, account, ...entry }) => entry),
    [
      {
        accountSeq: 2,
        actor: { type: 'operator', id: null, name: null },
        via: 'cli',
        action: 'credential.issued',
        object: { type: 'credential', id: issued.clientId },
        outcome: 'done',
        change: { role: [null, 'ADMIN'], label: [null, 'Core'], secret: [null, fingerprint(issued.secret)] },
        requestId: 'issue-1',
        address: '127.0.0.1',
      },
      {
        accountSeq: 3,
        actor: { type: 'operator', id: null, name: null },
        via: 'api',
        action: 'credential.rotated',
        object: { type: 'credential', id: issued.clientId },
        outcome: 'done',
        change: {
          secret: [fingerprint(issued.secret), fingerprint(rotated.secret)],
          previousValidUntil: [null, rotated.previousValidUntil],
        },
        requestId: entries[1].requestId,
        address: '127.0.0.1',
      },
    ],
  )
  assert.equal(entries[0].account.type, 'bank')
  assert.ok(Math.abs(Date.now() - Date.parse(entries[0].at)) < 60_000)
  for (let times = 0; times < 2; times++) await platform.call('POST', `${path}/revoke`, operator)
  const all = await readEntries(platform, auditor, `&account=${entries[0].account.id}`)
  assert.deepEqual(
    all.map(({ action }) => action),
    ['directory.applied', 'credential.issued', 'credential.rotated', 'credential.revoked'],
    'revoking again changes nothing',
  )
  assert.ok(all.every(({ seq }) => seq >= 1))
  const texts = JSON.stringify(await assertChained(platform))
  for (const secret of [issued.secret, rotated.secret]) assert.ok(!texts.includes(secret))
})

test('a person who acts is named in the answer and not in the text; a partner sees its own entries only', async () => {
  const password = 'correct horse battery staple'
  const admin = await platformUserToken(platform, 'admin')
  const user = { bank: 'gamma', login: 'iryna', role: 'ADMIN', password }
  const { body: added } = await platform.call('POST', '/admin/users', { token: admin, body: user })
  const token = await tokenOfUser(platform, 'bank', 'iryna')
  const [, entry, login, ...others] = await readEntries(platform, token)
  assert.deepEqual([login.action, others], ['login.done', []])
  assert.deepEqual([entry.action, entry.object], ['user.added', { type: 'user', id: added.userId }])
  assert.deepEqual([entry.actor.type, entry.actor.name, entry.via], ['person', 'auditor-admin', 'api'])
  assert.equal(entry.seq, undefined)
  assert.ok(!JSON.stringify(await assertChained(platform)).includes('iryna'))
  const refused = await platform.call('GET', `/partner/v1/audit-log?account=${entry.account.id}`, { token })
  assert.deepEqual([refused.status, refused.body.message], [400, ['account must be omitted']])
})

test('the platform’s people see the names of accounts, as they are now; a partner sees its id', async () => {
  const token = await platform.bankToken('beta')
  const own = await readEntries(platform, token)
  assert.deepEqual(Object.keys(own[0].account), ['type', 'id'])
  const all = await readEntries(platform, auditor)
  const accountOf = (type: string, name?: string) =>
    all.map(({ account }) => account).find(account => account.type === type && account.name === name)
  assert.deepEqual(Object.keys(accountOf('bank', 'Beta Bank')), ['type', 'id', 'name'])
  const { id, ...merchant } = accountOf('merchant', 'Гросер')
  assert.deepEqual(merchant, { type: 'merchant', name: 'Гросер', nameEn: 'Grocer' })
  assert.deepEqual(accountOf('platform'), { type: 'platform', id: null })
  assert.ok(!JSON.stringify((await assertChained(platform)).map(({ account }) => account)).includes('Гросер'))
  assert.equal((await readEntries(platform, auditor, `&account=${id}`))[0].account.nameEn, 'Grocer')
})

test('nothing is told of what did not happen', async () => {
  const before = await readEntries(platform, auditor)
  const body = { bank: 'alpha', login: 'auditor-viewer', role: 'ADMIN', password: 'correct horse battery staple' }
  assert.equal((await platform.call('POST', '/admin/users', { ...operator, body })).status, 409)
  assert.equal((await platform.call('POST', '/admin/credentials/pk_x/revoke', operator)).status, 404)
  assert.equal((await readEntries(platform, auditor)).length, before.length)
})

test('an apply is one entry of the platform with the counts, and one of each changed partner with its fields', async () => {
  const before = (await readEntries(platform, auditor)).length
  const beta = (await readEntries(platform, await platform.bankToken('beta'))).at(-1)?.account.id
  const yaml = testDirectory
    .replace('name: Beta Bank', 'name: Beta Bank of Kyiv')
    .replace('nameEn: Grocer', 'nameEn: Greengrocer')
  const apply = () => platform.call('POST', '/admin/directory', { ...operator, body: { directory: yaml } })
  const applied = await apply()
  assert.equal(applied.status, 200, applied.text)
  const entries = (await readEntries(platform, auditor))
    .slice(before)
    .filter(entry => entry.action === 'directory.applied')
  const ofPlatform = entries.filter(({ account }) => account.type === 'platform')
  assert.deepEqual(
    ofPlatform.map(({ change }) => change),
    [{ created: [null, 0], updated: [null, 2] }],
  )
  const others = entries.filter(({ account }) => account.type !== 'platform')
  assert.deepEqual(others.map(({ account }) => account.type).sort(), ['bank', 'merchant'])
  const ofBank = others.find(({ account }) => account.id === beta)
  assert.deepEqual(ofBank?.change.name, ['Beta Bank', 'Beta Bank of Kyiv'])
  assert.equal((await apply()).status, 200)
  const again = (await readEntries(platform, auditor))
    .slice(before)
    .filter(entry => entry.action === 'directory.applied')
  assert.equal(again.length, entries.length, 'the same again changes nothing')
})

test('an apply that changes more partners than its answer shows has the fields of each of them', async () => {
  const count = 1_050
  const merchants = Array.from({ length: count }, (_, index) => `  - { code: many-${index}, name: Shop ${index} }`)
  const directory = testDirectory.replace(/^merchants:\n/m, `merchants:\n${merchants.join('\n')}\n`)
  const applied = await platform.call('POST', '/admin/directory', { ...operator, body: { directory } })
  assert.equal(applied.status, 200, applied.text)
  const { database } = platform.platform
  const recorded = await database.query<{ empty: number; all: number }>(
    `select count(*) filter (where data -> 'change' = '{}')::int as empty, count(*)::int as all
     from outbox where kind = 'audit' and data ->> 'action' = 'directory.applied' and account_type = 'merchant'
       and account in (select merchant_id from merchants where code like 'many-%')`,
  )
  assert.deepEqual(recorded, [{ empty: 0, all: count }])
})

test('pages follow one another by number, and filters are exact', async () => {
  const token = await platform.bankToken()
  for (let count = 0; count < 7; count++) await platform.bankToken('alpha', count % 2 === 0 ? 'ADMIN' : 'VIEWER')
  await chained(platform)
  const seen: number[] = []
  let cursor = ''
  for (let page = 0; page < 10; page++) {
    const query = `limit=3&action=credential.issued${cursor && `&cursor=${cursor}`}`
    const { body } = await platform.call('GET', `/partner/v1/audit-log?${query}`, { token })
    seen.push(...body.data.map(({ accountSeq }: any) => accountSeq))
    cursor = body.nextCursor
    if (cursor === null) break
  }
  assert.deepEqual(seen, [9, 8, 7, 6, 5, 4, 3, 2])
  const [, first] = await readEntries(platform, token)
  for (const [query, count] of [
    ['action=credential', 0],
    ['object=credential', 8],
    [`object=credential:${first.object.id}`, 1],
    ['object=user', 0],
    ['actor=nobody', 0],
    [`from=${encodeURIComponent(first.at)}`, 8],
    [`to=${encodeURIComponent(first.at)}`, 1],
    ['from=2020-01-01&to=2020-01-02', 0],
  ] as const)
    assert.equal((await readEntries(platform, token, `&${query}`)).length, count, query)
  const filtered = await platform.call('GET', '/partner/v1/audit-log?limit=2&action=credential.issued', { token })
  const other = `/partner/v1/audit-log?object=credential&cursor=${filtered.body.nextCursor}`
  assert.equal((await platform.call('GET', other, { token })).status, 400)
})

test('a malformed period of an export is refused before its account is looked up', async () => {
  const query = 'account=00000000-0000-4000-8000-000000000000&from=zzz'
  const exported = await platform.call('GET', `/admin/audit-log/export?${query}`, {
    token: platform.config.operatorKey,
  })
  assert.equal(exported.status, 400)
  assert.equal(exported.headers.get('perkline-unnumbered'), null)
  const lines = await platform.call('GET', `/partner/v1/audit-log.jsonl?${query}`, {
    token: await platform.bankToken('alpha', 'ADMIN'),
  })
  assert.equal(lines.status, 400)
})

test('the log takes new entries only', async () => {
  const { database } = platform.platform
  await chained(platform)
  for (const statement of [
    `update audit_log set entry = 'x'`,
    'delete from audit_log',
    'truncate audit_log',
    `delete from audit_log where seq < 0`,
  ])
    await assert.rejects(database.execute(statement), /new entries only/, statement)
  await assertChained(platform)
})

test('only the platform’s own callers use the commands, whatever user agent others send', async () => {
  const headers = { 'user-agent': 'perkline-cli' }
  const send = (method: string, path: string, token: string, body?: object) =>
    platform.call(method, path, { token, headers, ...(body && { body }) })
  const lastOf = async (query: string) => (await readEntries(platform, auditor, query)).at(-1)

  const system = await platform.bankToken('alpha', 'ADMIN')
  const endpoint = { url: 'http://127.0.0.1:9/hooks', eventTypes: ['campaign.*'] }
  const made = await send('POST', '/partner/v1/webhook-endpoints', system, endpoint)
  assert.equal(made.status, 201, made.text)
  assert.equal((await lastOf('&action=endpoint.created')).via, 'api')

  const person = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
  const { typeAccount, login, password } = person
  assert.equal((await send('DELETE', '/portal/session', person.token)).status, 204)
  assert.equal((await lastOf(`&actor=${person.userId}&action=logout`)).via, 'api')
  assert.equal((await send('POST', '/portal/session', 'none', { typeAccount, login, password })).status, 200)
  assert.equal((await lastOf(`&actor=${person.userId}&action=login.done`)).via, 'api')

  const staff = await openPerson(platform, 'platform', 'admin')
  const user = { bank: 'alpha', login: 'by-command', role: 'VIEWER', password }
  assert.equal((await send('POST', '/admin/users', staff.token, user)).status, 201)
  assert.equal((await lastOf(`&actor=${staff.userId}&action=user.added`)).via, 'cli')
})
