/**
 * The ETag of GET /cashbacks/for-bank changes with everything that the bank can see and with nothing else; an unchanged
 * list is answered with 304.
 */
import assert from 'node:assert/strict'
import { after, before, describe, suite, test } from 'node:test'
import {
  assertRefused,
  campaignDirectory,
  createCampaign,
  ids,
  inDays,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { advance, changed } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { line, move, reportOf, runningCampaign, uploadBank, uploadMerchant } from '../../support/reconciliation.ts'
import { addCustomers, customers, putSegment } from '../../support/segments.ts'

const path = '/cashbacks/for-bank'
const plain = { 'accept-encoding': 'identity' }

let platform: TestPlatform
let alpha: Partner
let beta: Partner
let gamma: Partner
let grocer: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  alpha = await openCampaignBank(platform)
  beta = await openCampaignBank(platform, 'beta')
  gamma = await openCampaignBank(platform, 'gamma')
  grocer = await openMerchant(platform)
})
after(() => platform.close())

const read = (bank: Partner, headers: Record<string, string> = {}, query = '') =>
  bank.call('GET', path + query, { headers: { ...plain, ...headers } })
const tagOf = async (bank: Partner, query = ''): Promise<string> => {
  const answer = await read(bank, {}, query)
  assert.equal(answer.status, 200, answer.text)
  return answer.headers.get('etag') ?? ''
}
const ok = (answer: Answer) => assert.ok(answer.status === 200 || answer.status === 201, answer.text)
const decide = async (bank: Partner, decision: 'confirm' | 'reject', id: string) =>
  ok(await bank.call('POST', `/cashbacks/${id}/${decision}`))
const both = { participantsIds: [ids.alpha, ids.beta] }

/**
 * Makes a change and returns for each bank whether its list has a new ETag. Asserts that the content of a list has
 * changed exactly when its ETag has.
 */
async function newsOf(change: () => Promise<unknown>): Promise<{ alpha: boolean; beta: boolean; gamma: boolean }> {
  const banks = { alpha, beta, gamma }
  const readAll = () =>
    Promise.all(
      Object.values(banks).map(async bank => {
        const { headers, text } = await read(bank)
        return { tag: headers.get('etag') ?? '', text }
      }),
    )
  const before = await readAll()
  await change()
  const after = await readAll()
  const news = Object.keys(banks).map((name, index) => {
    const isNew = before[index]?.tag !== after[index]?.tag
    if (before[index]?.text !== after[index]?.text) assert.ok(isNew, `${name}: changed under an old ETag`)
    return [name, isNew]
  })
  for (const [index, bank] of Object.values(banks).entries()) {
    const { status } = await read(bank, { 'if-none-match': before[index]?.tag ?? '' })
    assert.equal(status, before[index]?.tag === after[index]?.tag ? 304 : 200)
  }
  return Object.fromEntries(news)
}

const toBoth = { alpha: true, beta: true, gamma: false }
const toAlpha = { alpha: true, beta: false, gamma: false }
const toBeta = { alpha: false, beta: true, gamma: false }
const toAll = { alpha: true, beta: true, gamma: true }
const toNobody = { alpha: false, beta: false, gamma: false }

suite('changes by partners', () => {
  test('a new campaign, for those that are invited', async () => {
    assert.deepEqual(await newsOf(() => createCampaign(platform, both)), toBoth)
    assert.deepEqual(await newsOf(() => createCampaign(platform, { participantsIds: [ids.beta] })), toBeta)
  })

  test('an edit; not one that changes nothing', async () => {
    const id = await createCampaign(platform)
    const edit = async (body: object) => ok(await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body }))
    assert.deepEqual(await newsOf(() => edit({ description: 'new' })), toAlpha)
    assert.deepEqual(await newsOf(() => edit({ description: 'new' })), toNobody)
    const own = { terminalsPlatform: false, terminals: [{ terminal_id: 'own' }] }
    assert.deepEqual(await newsOf(() => edit(own)), toAlpha)
    assert.deepEqual(await newsOf(() => edit({ participantsIds: [ids.alpha, ids.beta] })), toBeta)
    assert.deepEqual(await newsOf(() => edit({ participantsIds: [ids.beta] })), toAlpha)
  })

  test('decisions of banks, the launch, the deletion', async () => {
    const id = await createCampaign(platform, both)
    assert.deepEqual(await newsOf(() => decide(alpha, 'confirm', id)), toAlpha)
    assert.deepEqual(await newsOf(() => decide(alpha, 'confirm', id)), toNobody)
    assert.deepEqual(await newsOf(() => decide(beta, 'reject', id)), toBoth)
    const launch = () => grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`).then(ok)
    assert.deepEqual(await newsOf(launch), toBoth)
    const remove = () => grocer.call('DELETE', `/cashbacks/for-merchant/${id}`).then(ok)
    assert.deepEqual(await newsOf(remove), toBoth)
    assert.deepEqual(await newsOf(remove), toNobody)
  })

  test('a segment', async () => {
    await addCustomers(platform, 'alpha', customers('a', 2))
    const id = await createCampaign(platform)
    const form = () => putSegment(grocer, id, 'customerId\na-1\n').then(ok)
    assert.deepEqual(await newsOf(form), toAlpha)
    assert.deepEqual(await newsOf(form), toAlpha)
  })

  test('what is refused is no news', async () => {
    const id = await createCampaign(platform)
    const refused = async () => {
      assert.equal((await beta.call('POST', `/cashbacks/${id}/confirm`)).status, 400)
      assert.equal((await grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)).status, 400)
      const body = { percentage: 101 }
      assert.equal((await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body })).status, 400)
    }
    assert.deepEqual(await newsOf(refused), toNobody)
  })
})

test('the clock: start and end of a period', async () => {
  const id = await createCampaign(platform, { dateFrom: inDays(platform, 1), dateTo: inDays(platform, 2) })
  await decide(alpha, 'confirm', id)
  ok(await grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`))
  assert.deepEqual(await newsOf(() => advance(platform, 'P1D')), toAlpha)
  assert.deepEqual(await newsOf(() => advance(platform, 'P1D')), toAlpha)
})

test('every step of the reconciliation', async () => {
  const sides = { platform, grocer, alpha, beta }
  const running = await runningCampaign(sides, [alpha])
  await advance(platform, 'PT1H')
  const report = reportOf(line(running, 'a'))
  const bank = `${running.id}/banks/${ids.alpha}`
  const steps = [
    () => uploadBank(alpha, running.id, report),
    () => uploadMerchant(grocer, running.id, report),
    () => uploadBank(alpha, running.id, report),
    () => move(grocer, `${bank}/accept-report`),
    () => move(grocer, `${bank}/settle`),
    () => move(grocer, `${running.id}/compensation-paid`),
    () => move(alpha, `${running.id}/compensation-received`),
  ]
  for (const step of steps) assert.deepEqual(await newsOf(() => step().then(ok)), toAlpha)
})

describe('the directory', () => {
  after(() => platform.applyDirectory(campaignDirectory))
  const apply = (...replacements: [string, string][]) =>
    platform.applyDirectory(changed(campaignDirectory, ...replacements))

  test('names of merchants and countries, and terminals, for all', async () => {
    assert.deepEqual(await newsOf(() => apply(['name: Гросер', 'name: Новий'])), toAll)
    assert.deepEqual(await newsOf(() => apply(['name: Гросер', 'name: Новий'])), toNobody)
    assert.deepEqual(await newsOf(() => apply(['name: Ukraine', 'name: Україна'])), toAll)
    assert.deepEqual(await newsOf(() => apply(['name: Shop 2', 'name: Shop two'])), toAll)
    const more = '- { terminalId: T-0002, name: Shop 2 }\n      - { terminalId: T-0003 }'
    assert.deepEqual(await newsOf(() => apply(['- { terminalId: T-0002, name: Shop 2 }', more])), toAll)
    const [{ terminals, retailer, country }] = (await read(alpha)).body
    assert.deepEqual(
      terminals.map(({ terminal_id }: { terminal_id: string }) => terminal_id),
      ['T-0001', 'T-0002', 'T-0003'],
    )
    assert.deepEqual([retailer.name, country.name], ['Гросер', 'Ukraine'])
  })

  test('not what no list shows: banks, payment systems', async () => {
    await platform.applyDirectory(campaignDirectory)
    assert.deepEqual(await newsOf(() => apply(['name: Alpha Bank', 'name: Alpha'])), toNobody)
    assert.deepEqual(await newsOf(() => apply(['name: Visa', 'name: VISA'])), toNobody)
  })
})

suite('If-None-Match', () => {
  let tag = ''
  before(async () => {
    tag = await tagOf(alpha)
  })

  test('the ETag is strong and differs by bank, query and coding', async () => {
    const tags = [tag, await tagOf(beta), await tagOf(gamma), await tagOf(alpha, '?status=deleted')]
    tags.push(await tagOf(alpha, '?status=active'), await tagOf(alpha, '?sku=a&sku=b'), await tagOf(alpha, '?sku=b'))
    for (const coding of ['gzip', 'br', 'zstd'])
      tags.push((await alpha.call('HEAD', path, { headers: { 'accept-encoding': coding } })).headers.get('etag') ?? '')
    assert.equal(new Set(tags).size, tags.length)
    for (const one of tags) assert.match(one, /^"[\x21\x23-\x7e]+"$/)
    assert.equal(await tagOf(alpha), tag)
  })

  test('304 has the headers of a 200 and no body', async () => {
    const { headers, status, text } = await read(alpha, { 'if-none-match': tag })
    assert.deepEqual([status, text], [304, ''])
    assert.equal(headers.get('etag'), tag)
    assert.equal(headers.get('cache-control'), 'private, no-cache')
    assert.equal(headers.get('vary'), 'accept-encoding, authorization, cookie')
    assert.equal(headers.get('content-encoding'), null)
    const full = await read(alpha)
    assert.deepEqual(
      [full.headers.get('cache-control'), full.headers.get('vary')],
      ['private, no-cache', 'accept-encoding, authorization, cookie'],
    )
  })

  const known: [name: string, header: () => string][] = [
    ['the tag', () => tag],
    ['weakened by something in between', () => `W/${tag}`],
    ['in a list', () => `"x", W/"y,z" ,${tag}`],
    ['without spaces', () => `"x",${tag},"y"`],
    ['*', () => '*'],
    [' * ', () => ' * '],
  ]
  for (const [name, header] of known)
    test(`304: ${name}`, async () => {
      assert.equal((await read(alpha, { 'if-none-match': header() })).status, 304)
      const head = await alpha.call('HEAD', path, { headers: { ...plain, 'if-none-match': header() } })
      assert.equal(head.status, 304)
    })

  const unknown: [name: string, header: () => string][] = [
    ['another', () => '"x"'],
    ['without quotes', () => tag.slice(1, -1)],
    ['a part', () => `${tag.slice(0, -2)}"`],
    ['inside of another', () => `"x${tag.slice(1)}`],
    ['that of another coding', () => tag.replace(/"$/, '-gzip"')],
    ['weak in small letters', () => `w/${tag}`.replace(tag, '"x"')],
    ['nothing', () => ''],
    ['"*"', () => '"*"'],
  ]
  for (const [name, header] of unknown)
    test(`200: ${name}`, async () => assert.equal((await read(alpha, { 'if-none-match': header() })).status, 200))

  test('the tag of another query or bank is unknown', async () => {
    assert.equal((await read(alpha, { 'if-none-match': tag }, '?status=active')).status, 200)
    assert.equal((await read(beta, { 'if-none-match': tag })).status, 200)
  })

  test('a compressed 304, and its 200', async () => {
    const headers = { 'accept-encoding': 'gzip' }
    const full = await alpha.call('GET', path, { headers })
    const known = { ...headers, 'if-none-match': full.headers.get('etag') ?? '' }
    assert.equal((await alpha.call('GET', path, { headers: known })).status, 304)
    assert.match(known['if-none-match'], /-gzip"$/)
  })

  test('faults, 401 and 403 come first', async () => {
    const headers = { 'if-none-match': '*' }
    assertRefused(await alpha.call('GET', `${path}?page=1`, { headers }), 400)
    assertRefused(await platform.call('GET', path, { headers }), 401)
    assertRefused(await grocer.call('GET', path, { headers }), 403)
  })

  test('HEAD has the headers of the GET and reads nothing', async () => {
    const headers = { 'accept-encoding': 'gzip' }
    const [head, get] = [await alpha.call('HEAD', path, { headers }), await alpha.call('GET', path, { headers })]
    assert.deepEqual([head.status, head.text], [200, ''])
    for (const name of ['etag', 'content-type', 'content-encoding', 'cache-control', 'vary'])
      assert.equal(head.headers.get(name), get.headers.get(name), name)
    assert.equal(head.headers.get('content-length'), null)
  })
})

for (const [kind, campaigns] of [
  ['short', 2],
  ['long', 60],
] as const)
  test(`while a ${kind} list changes, an ETag never stands for two contents`, async () => {
    const bank = kind === 'short' ? gamma : beta
    const participantsIds = [kind === 'short' ? ids.gamma : ids.beta]
    const made: string[] = []
    for (let count = 0; count < campaigns; count++) made.push(await createCampaign(platform, { participantsIds }))
    const [id] = made
    let isOver = false
    let edits = 0
    const editing = (async () => {
      for (; !isOver; edits++) {
        const body = { description: `edit ${edits}` }
        ok(await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body }))
      }
    })()
    const seen = new Map<string, string>()
    const reader = async () => {
      // On a slow disk, few edits may happen during 25 reads. So read on until more than 5 versions were seen.
      for (let round = 0; round < 25 || (seen.size <= 5 && round < 5_000); round++) {
        const { headers, text } = await read(bank)
        const tag = headers.get('etag') ?? ''
        assert.equal(text, seen.get(tag) ?? text)
        seen.set(tag, text)
      }
    }
    try {
      await Promise.all([reader(), reader()])
    } finally {
      isOver = true
      await editing
    }
    assert.ok(seen.size > 5 && new Set(seen.values()).size === seen.size, `${edits} edits, ${seen.size} versions seen`)
    const tag = await tagOf(bank)
    assert.ok(!seen.has(tag) || seen.get(tag) === (await read(bank)).text)
  })
