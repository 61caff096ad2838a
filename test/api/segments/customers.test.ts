/**
 * What the operator does for campaigns (contract/operations.md): `perkline customers import`, `perkline campaigns
 * complete`, and their routes.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  historyOf,
  launchCampaign,
  moveClock,
  openPartners,
  type Partners,
  receiveCompensation,
  statusOf,
} from '../../support/campaign-moves.ts'
import { assertRefused, campaignDirectory, ids } from '../../support/campaigns.ts'
import { perkline } from '../../support/command.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { customers, fileOf } from '../../support/segments.ts'

let platform: TestPlatform
const folder = mkdtempSync(join(tmpdir(), 'perkline-customers-'))
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
})
after(async () => {
  await platform.close()
  rmSync(folder, { recursive: true })
})

const run = (args: string[]) =>
  perkline(args, { env: { PERKLINE_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey } })
const json = async (args: string[]) => {
  const { code, stdout, stderr } = await run([...args, '--json'])
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^[^\n]+\n$/)
  return JSON.parse(stdout)
}

function written(content: string | Uint8Array): string {
  const path = join(folder, 'customers.csv')
  writeFileSync(path, content)
  return path
}

const importOf = (content: string | Uint8Array, bank = 'alpha') =>
  run(['customers', 'import', written(content), '--bank', bank])

async function directory(): Promise<Record<string, string[]>> {
  const rows = await platform.platform.database.query<{ code: string; customers: string[] }>(
    'select code, array_agg(customer_id order by customer_id) as customers from customers join banks using (bank_id) group by code',
  )
  return Object.fromEntries(rows.map(({ code, customers }) => [code, customers]))
}

suite('customers import', () => {
  beforeEach(async () => {
    await platform.platform.database.execute('delete from customers')
  })

  test('counts what is new, and what was known or stood twice in the file', async () => {
    const path = written(fileOf(['A-1', 'A-2', 'A-1']))
    assert.deepEqual(await json(['customers', 'import', path, '--bank', 'alpha']), { imported: 2, duplicates: 1 })
    assert.deepEqual(await json(['customers', 'import', path, '--bank', 'alpha']), { imported: 0, duplicates: 3 })
    assert.deepEqual(await directory(), { alpha: ['A-1', 'A-2'] })
    const { code, stdout } = await importOf('\ufeffcustomerId\r\n"A-3"\r\n\r\nA-1')
    assert.deepEqual([code, stdout], [0, '1 imported, 1 duplicate\n'])
  })

  test('100,000 lines', async () => {
    const { code, stdout } = await importOf(fileOf(customers('C', 100_000)))
    assert.deepEqual([code, stdout], [0, '100000 imported, 0 duplicates\n'])
  })

  test('one faulty line keeps the whole file out; the first 20 are named by line, without their values', async () => {
    const { code, stdout, stderr } = await importOf(fileOf(['A-1', ...customers('secret', 30).map(id => ` ${id}`)]))
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Nothing was imported from .*customers\.csv/)
    assert.equal(stderr.match(/line \d+ customerId must be/g)?.length, 20)
    assert.match(stderr, /line 3 customerId must be 1 to 128 characters.*without a space at either end/)
    assert.match(stderr, /and 10 more errors; 30 errors in all: nothing was kept/)
    assert.ok(!stderr.includes('secret'))
    assert.deepEqual(await directory(), {})
  })

  test('a customer of another bank is never moved: the file is refused, naming the lines', async () => {
    await importOf(fileOf(['X-1', 'X-2']), 'beta')
    const { code, stderr } = await importOf(fileOf(['A-1', 'X-2', 'A-2', 'X-1']))
    assert.equal(code, 1)
    assert.match(stderr, /line 3 must name a customer of alpha: this one belongs to another bank/)
    assert.match(stderr, /line 5 must name/)
    assert.match(stderr, /2 errors in all/)
    assert.deepEqual(await directory(), { beta: ['X-1', 'X-2'] })
  })

  test('the answer names each broken rule for programs', async () => {
    await importOf(fileOf(['X-1']), 'beta')
    const problemsOf = async (content: string) => {
      const answer = await platform.call('POST', '/admin/customers?bank=alpha', {
        token: platform.config.operatorKey,
        raw: content,
        headers: { 'content-type': 'text/csv' },
      })
      assert.equal(answer.status, 400, answer.text)
      return answer.body.problems
    }
    assert.deepEqual(await problemsOf(fileOf(['A-1', ' A-2'])), [
      { line: 3, column: 'customerId', rule: 'customer-id', params: { max: 128 }, value: null },
    ])
    assert.deepEqual(await problemsOf(fileOf(['A-1', 'X-1'])), [
      { line: 3, column: null, rule: 'other-bank', params: { bank: 'alpha' }, value: null },
    ])
  })

  test('no header, an empty file, no UTF-8', async () => {
    for (const [content, message] of [
      ['A-1\nA-2\n', /line 1 must be the header customerId/],
      ['', /file must not be empty/],
      [Buffer.from('customerId\n\xff\n', 'latin1'), /line 2 must be valid UTF-8/],
    ] as const) {
      const { code, stderr } = await importOf(content)
      assert.equal(code, 1)
      assert.match(stderr, message)
    }
  })

  test('an unknown bank, a file that is not there, wrong usage', async () => {
    const unknown = await importOf(fileOf(['A-1']), 'nobody')
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /There is no bank nobody/)
    const missing = await run(['customers', 'import', join(folder, 'none.csv'), '--bank', 'alpha'])
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /none\.csv can’t be read: there is no such file/)
    for (const args of [['customers', 'import'], ['customers', 'import', written('')], ['customers']])
      assert.equal((await run(args)).code, 2, args.join(' '))
  })

  test('two imports of the same customers at once: each is there once, and one of the banks has them', async () => {
    const file = fileOf(customers('R', 2_000))
    const send = (bank: string) =>
      platform.call('POST', `/admin/customers?bank=${bank}`, {
        token: platform.config.operatorKey,
        raw: file,
        headers: { 'content-type': 'text/csv' },
      })
    const own = await Promise.all([send('alpha'), send('alpha')])
    assert.deepEqual(own.map(({ body }) => body.imported).sort(), [0, 2_000])
    await platform.platform.database.execute('delete from customers')
    const rivals = await Promise.all([send('alpha'), send('beta')])
    assert.deepEqual(rivals.map(({ status }) => status).sort(), [200, 400])
  })

  test('an import that is broken off leaves nothing', async () => {
    const sending = request(`${platform.url}/admin/customers?bank=alpha`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.config.operatorKey}`, 'content-type': 'text/csv' },
    })
    sending.on('error', () => {})
    sending.write(fileOf(customers('K', 20_000)))
    const { database } = platform.platform
    const open = async () =>
      (
        await database.query<{ count: number }>(
          `select count(*) from pg_stat_activity
           where datname = current_database() and query like 'copy staged_customers%' and state = 'active'`,
        )
      )[0]?.count
    while ((await open()) !== 1) await sleep(20)
    sending.destroy()
    while ((await open()) !== 0) await sleep(20)
    assert.deepEqual(await directory(), {})
  })

  test('401 without the operator’s key, 415 for what is no CSV, 400 without a bank', async () => {
    const token = platform.config.operatorKey
    const csv = { raw: fileOf(['A-1']), headers: { 'content-type': 'text/csv' } }
    assertRefused(await platform.call('POST', '/admin/customers?bank=alpha', csv), 401)
    assertRefused(await platform.call('POST', '/admin/customers', { token, ...csv }), 400, ['bank must be given'])
    assertRefused(await platform.call('POST', '/admin/customers?bank=alpha', { token, body: {} }), 415)
  })
})

suite('campaigns complete', () => {
  let partners: Partners
  before(async () => {
    partners = await openPartners(platform)
  })

  test('ends the wait; again it is done already', async () => {
    const id = await launchCampaign(platform, partners)
    await moveClock(platform, { advance: 'P41D' })
    const early = await run(['campaigns', 'complete', id])
    assert.equal(early.code, 1)
    assert.match(early.stderr, /was not completed/)
    assert.match(
      early.stderr,
      /awaitingCompensationConfirmation: it can be completed once the compensation was received/,
    )
    await receiveCompensation(platform, id)
    const { createdAt, updatedAt, message, ...result } = await json(['campaigns', 'complete', id])
    assert.deepEqual(result, { id, status: 'completed' })
    assert.ok(message.length > 0 && createdAt < updatedAt)
    assert.equal(await statusOf(partners.grocer, id), 'completed')
    const again = await run(['campaigns', 'complete', id])
    assert.deepEqual([again.code, again.stdout], [0, 'The campaign is completed\n'])
    const steps = (await historyOf(partners, id)).filter(({ trigger }) => trigger === 'complete')
    assert.deepEqual(
      steps.map(({ actor, from, to }) => [actor, from, to]),
      [[{ type: 'platform', id: null, login: null, name: null, role: null }, 'compensationReceived', 'completed']],
    )
  })

  test('an unknown campaign and what is no id', async () => {
    const unknown = await run(['campaigns', 'complete', ids.visa])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /The campaign was not found/)
    const noId = await run(['campaigns', 'complete', 'x/../y'])
    assert.equal(noId.code, 1)
    assert.match(noId.stderr, /cashbackId must be a UUID/)
    assert.equal((await run(['campaigns', 'complete'])).code, 2)
  })
})
