/** Personal data: customers are forgotten and exported, and data past its retention is removed (contract/security.md, "Personal data"). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, suite, test } from 'node:test'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import { campaignDirectory, createCampaign, ids } from '../../support/campaigns.ts'
import { commandsAt } from '../../support/command.ts'
import { advance, until } from '../../support/esim.ts'
import { type CallOptions, startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'
import {
  type Ended,
  endedCampaign,
  line,
  openSides,
  reportOf,
  type Sides,
  uploadBank,
} from '../../support/reconciliation.ts'
import { addCustomers, customers, fileOf, putSegment, segmentOf } from '../../support/segments.ts'

const folder = mkdtempSync(join(tmpdir(), 'perkline-personal-'))
after(() => rmSync(folder, { recursive: true }))

suite('customers forget and export', () => {
  let platform: TestPlatform
  let sides: Sides
  before(async () => {
    platform = await startPlatform({}, { directory: campaignDirectory })
    sides = await openSides(platform)
  })
  after(() => platform.close())
  beforeEach(async () => {
    await platform.platform.database.execute('delete from customers')
    await addCustomers(platform, 'alpha', customers('A', 5))
    await addCustomers(platform, 'beta', customers('B', 3))
  })

  const { run, json } = commandsAt(() => platform)
  const forgetByCommand = (ids: readonly string[]) => {
    const path = join(folder, 'forget.csv')
    writeFileSync(path, fileOf(ids))
    return json('customers', 'forget', path, '--bank', 'alpha')
  }
  const operate = async (path: string, options: CallOptions) => {
    const answer = await platform.call('POST', `/admin/customers/${path}`, {
      token: platform.config.operatorKey,
      ...options,
    })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const forget = (ids: readonly string[]) =>
    operate('forget?bank=alpha', { raw: fileOf(ids), headers: { 'content-type': 'text/csv' } })
  const exported = (customerId: string, bank = 'alpha') => operate('export', { body: { customerId, bank } })
  const newCampaign = async (...customerIds: string[]) => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, sides.grocer)
    const answer = await putSegment(sides.grocer, id, fileOf(customerIds))
    assert.equal(answer.status, 200, answer.text)
    return id
  }

  test('they leave the directory and every segment of the bank; the others stay in their order', async () => {
    const first = await newCampaign('A-5', 'A-2', 'B-1', 'A-1')
    const second = await newCampaign('A-2')
    const untouched = await newCampaign('A-3', 'B-1')
    const before = await segmentOf(sides.alpha, untouched)
    assert.deepEqual(await forgetByCommand(['A-2', 'A-5', 'nobody', 'B-1', 'A-2']), { forgotten: 2, unknown: 2 })
    assert.deepEqual((await segmentOf(sides.alpha, first))?.customerIds, ['A-1'])
    assert.deepEqual((await segmentOf(sides.beta, first))?.customerIds, ['B-1'], 'another bank’s customer')
    const emptied = await segmentOf(sides.alpha, second)
    assert.deepEqual([emptied?.customersCount, emptied?.customerIds], [0, []])
    assert.deepEqual(await segmentOf(sides.alpha, untouched), before)
    await newCampaign('A-2', 'A-4')
    assert.deepEqual(await exported('A-2'), {
      customerId: 'A-2',
      bank: (await exported('A-1')).bank,
      inDirectory: false,
      segments: [],
    })
    const { ok, checks } = await audit(platform.platform.deps.admin, new Date())
    assert.ok(ok, JSON.stringify(checks.filter(check => !check.ok)))
  })

  test('cached answers of the bank’s list and of both details are not used any more', async () => {
    const id = await newCampaign('A-1', 'A-2')
    const tags = () =>
      Promise.all(
        (
          [
            ['/cashbacks/for-bank', sides.alpha],
            [`/portal/cashbacks/${id}`, sides.alpha],
            [`/cashbacks/for-merchant/${id}`, sides.grocer],
          ] as const
        ).map(async ([path, partner]) => (await partner.call('GET', path)).headers.get('etag')),
      )
    const before = await tags()
    await forget(['A-1'])
    for (const [n, tag] of (await tags()).entries()) assert.notEqual(tag, before[n])
  })

  test('an upload at the same moment cannot bring a forgotten customer back', async () => {
    for (let round = 0; round < 10; round++) {
      await platform.platform.database.execute('delete from customers')
      await addCustomers(platform, 'alpha', customers('A', 5))
      const id = await createCampaign(platform, {}, sides.grocer)
      const [answer] = await Promise.all([putSegment(sides.grocer, id, fileOf(customers('A', 5))), forget(['A-3'])])
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual((await segmentOf(sides.alpha, id))?.customerIds, ['A-1', 'A-2', 'A-4', 'A-5'])
    }
  })

  test('while a segment is cut, decisions about other campaigns of the bank go on', async () => {
    const [cut, other] = [await newCampaign('A-1', 'A-2'), await newCampaign('A-3')]
    const { database } = platform.platform
    const blocker = await database.connect()
    await blocker.query('begin')
    await blocker.query('select from campaign_segments where cashback_id = $1 for update', [cut])
    const forgotten = forget(['A-1'])
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query like '%update campaign_segments%'`
    await until('the cut waits', async () => (await database.query(waiting)).length === 1)
    const { status, text } = await sides.alpha.call('POST', `/cashbacks/${other}/confirm`)
    await blocker.end()
    assert.deepEqual(await forgotten, { forgotten: 1, unknown: 0 })
    assert.equal(status, 201, text)
    assert.deepEqual((await segmentOf(sides.alpha, cut))?.customerIds, ['A-2'])
  })

  test('run again after it was cut off, it ends what is left', async () => {
    const id = await newCampaign('A-1', 'A-2')
    // Makes the state that a crash leaves: the customer is deleted from the directory, but not yet from the segments.
    await platform.platform.database.execute(`delete from customers where customer_id = 'A-1'`)
    assert.deepEqual(await forget(['A-1']), { forgotten: 0, unknown: 1 })
    assert.deepEqual((await segmentOf(sides.alpha, id))?.customerIds, ['A-2'])
  })

  test('what is kept of a customer: directory and segments, by bank', async () => {
    await addCustomers(platform, 'alpha', ['asked'])
    const id = await newCampaign('asked', 'B-2')
    const kept = await json('customers', 'export', 'asked', '--bank', 'alpha')
    assert.deepEqual([kept.customerId, kept.bank.code, kept.inDirectory], ['asked', 'alpha', true])
    assert.deepEqual(
      kept.segments.map((segment: { cashbackId: string; sourceFileName: string }) => [
        segment.cashbackId,
        segment.sourceFileName,
      ]),
      [[id, 'loyal.csv']],
    )
    assert.equal((await exported('B-2')).inDirectory, false)
    const { stdout } = await run('customers', 'export', 'asked', '--bank', 'alpha')
    assert.match(stdout, /^asked of alpha: in the customer directory, in 1 segment\n/)
  })

  test('a segment is found by exactly the id of its customer, whatever is in it', async () => {
    const taken = ['say "x" twice', 'back\\slash', 'їжак/1', 'tail']
    const csv = taken.map(id => `"${id.replaceAll('"', '""')}"`)
    await addCustomers(platform, 'alpha', csv)
    const id = await newCampaign(...csv)
    const found = async (customerId: string) =>
      (await exported(customerId)).segments.map(({ cashbackId }: { cashbackId: string }) => cashbackId)
    for (const customerId of taken) assert.deepEqual(await found(customerId), [id], customerId)
    for (const customerId of ['x', 'slash', 'їжак', 'tai']) assert.deepEqual(await found(customerId), [], customerId)
  })

  test('an unknown bank and a faulty file are refused, and nothing changes', async () => {
    const path = join(folder, 'faulty.csv')
    writeFileSync(path, 'customer\nA-1\n')
    const faulty = await run('customers', 'forget', path, '--bank', 'alpha')
    assert.equal(faulty.code, 1)
    writeFileSync(path, fileOf(['A-1']))
    assert.match((await run('customers', 'forget', path, '--bank', 'nobody')).stderr, /There is no bank nobody/)
    assert.match((await run('customers', 'export', 'A-1', '--bank', 'nobody')).stderr, /There is no bank nobody/)
    assert.equal((await exported('A-1')).inDirectory, true)
  })
})

suite('retention', () => {
  let platform: TestPlatform
  let sides: Sides
  before(async () => {
    const settings = {
      KEEP_REPORT_LINES_DAYS: '90',
      KEEP_SEGMENTS_DAYS: '30',
      KEEP_MSISDN_DAYS: '365',
      COMPLETE_AFTER_DAYS: '1',
    }
    platform = await startPlatform(settings, { directory: campaignDirectory })
    await addCustomers(platform, 'alpha', customers('A', 3))
    sides = await openSides(platform)
  })
  after(() => platform.close())

  const rows = async (table: string) =>
    (await platform.platform.database.query<{ count: number }>(`select count(*) from ${table}`))[0]?.count
  const proven = async () => {
    const { checks } = await audit(platform.platform.deps.admin, platform.platform.deps.campaigns.clock.now())
    return checks.filter(({ ok }) => !ok)
  }

  /**
   * Takes a campaign with a segment from its period to its end.
   * @returns the report's id
   */
  async function completeCampaign(): Promise<{ campaign: Ended; reportId: string }> {
    const { grocer, alpha } = sides
    const campaign = await endedCampaign(sides, [alpha], { merchantCompensationPercentage: 100 })
    const uploaded = await uploadBank(
      alpha,
      campaign.id,
      reportOf(line(campaign, 'x-1'), line(campaign, 'x-2', { cashback: '1.00' })),
    )
    assert.equal(uploaded.status, 201, uploaded.text)
    const bank = `/portal/cashbacks/${campaign.id}/banks/a1a1a1a1-0000-4000-8000-000000000001`
    for (const [partner, path] of [
      [grocer, `${bank}/accept-report`],
      [grocer, `${bank}/settle`],
      [grocer, `/portal/cashbacks/${campaign.id}/compensation-paid`],
      [alpha, `/portal/cashbacks/${campaign.id}/compensation-received`],
    ] as const) {
      const answer = await partner.call('POST', path)
      assert.equal(answer.status, 200, answer.text)
    }
    return { campaign, reportId: uploaded.body.reportId }
  }

  test('lines and files of reports go 90 days after the end of their campaign, and their totals stay', async () => {
    const { campaign, reportId } = await completeCampaign()
    await advance(platform, 'P1D')
    const read = async () =>
      (await sides.grocer.call('GET', `/portal/cashbacks/${campaign.id}/reconciliation`)).body.banks[0]
    const before = await read()
    const { database } = platform.platform
    const hash = async () => (await database.query<{ sha256: Buffer }>('select sha256 from reports'))[0]?.sha256
    const uploadedHash = await hash()
    // Reports that older versions stored have no hash.
    await database.execute('update reports set sha256 = null')
    await advance(platform, 'P89D')
    assert.equal((await sides.grocer.call('GET', `/portal/reports/${reportId}/file`)).status, 200)
    await advance(platform, 'P2D')
    for (const table of ['report_lines', 'report_chunks', 'report_differences'])
      assert.equal(await rows(table), 0, table)
    const part = `/portal/cashbacks/${campaign.id}/banks/${ids.alpha}`
    for (const path of [
      `/portal/reports/${reportId}/file`,
      `${part}/differences.csv`,
      `${part}/differences`,
      `${part}/differences?kind=wrong-cashback&search=x`,
    ]) {
      const gone = await sides.grocer.call('GET', path)
      assert.equal(gone.status, 404, path)
      assert.match(gone.body.message, /was removed/)
    }
    assert.ok(uploadedHash && (await hash())?.equals(uploadedHash), 'the hash stays for the settlement act')
    const after = await read()
    assert.deepEqual(after.reports, before.reports)
    assert.equal(after.expectedCompensation, before.expectedCompensation)
    assert.deepEqual(await proven(), [])
    await database.execute(`update reports set broken_terms = '{}'`)
    const none = await sides.grocer.call('GET', `${part}/differences`)
    assert.deepEqual(
      [none.status, none.body.pagination.totalItems],
      [200, 0],
      'where there were none, none was removed',
    )
    assert.equal((await sides.grocer.call('GET', `${part}/differences.csv`)).status, 200)
  })

  test('a long report goes in small pieces, and is not shown as soon as the first one is gone', async () => {
    const { campaign, reportId } = await completeCampaign()
    const { database } = platform.platform
    await advance(platform, 'P1D')
    await database.execute(
      `insert into report_differences (report_id, place, kind, bank_line, transaction_id)
       select '${reportId}', 1000 + n, 'wrong-cashback', n, 'x' from generate_series(1, 110000) n`,
    )
    // This trigger makes the removal fail after some of its statements, or if one statement removes too many rows.
    await database.execute(`
      create function only_small_pieces() returns trigger language plpgsql as $$ begin
        if (select count(*) > 50000 from gone) then raise exception 'too many rows in one statement'; end if;
        if (select count(*) < 50000 from report_differences) then raise exception 'no more today'; end if;
        return null; end $$`)
    await database.execute(`
      create trigger small_pieces after delete on report_differences referencing old table as gone
      for each statement execute function only_small_pieces()`)
    const other = await createCampaign(platform, {}, sides.grocer)
    assert.equal((await putSegment(sides.grocer, other, fileOf(['A-1']))).status, 200)
    assert.equal((await sides.grocer.call('DELETE', `/cashbacks/for-merchant/${other}`)).status, 200)
    const moved = await platform.call('POST', '/sandbox/clock', { body: { advance: 'P95D' } })
    assert.equal(moved.status, 500, 'the job failed')
    assert.equal(await segmentOf(sides.alpha, other), null, 'a kind that fails does not keep the others from running')
    const left = Number(await rows('report_differences'))
    assert.ok(left > 50_000 && left < 110_000, `${left} are left`)
    const part = `/portal/cashbacks/${campaign.id}/banks/${ids.alpha}`
    for (const path of [`/portal/reports/${reportId}/file`, `${part}/differences.csv`, `${part}/differences`])
      assert.equal((await sides.grocer.call('GET', path)).status, 404, path)
    const shown = await sides.grocer.call('GET', `/portal/cashbacks/${campaign.id}/reconciliation`)
    assert.deepEqual(shown.body.banks[0].differences.items, [])
    await database.execute('drop function only_small_pieces cascade')
    await advance(platform, 'PT1S')
    for (const table of ['report_lines', 'report_chunks', 'report_differences'])
      assert.equal(await rows(table), 0, table)
    assert.deepEqual(await proven(), [])
  })

  test('segments go 30 days after the end, also of campaigns that never started', async () => {
    const id = await createCampaign(platform, {}, sides.grocer)
    assert.equal((await putSegment(sides.grocer, id, fileOf(['A-1']))).status, 200)
    assert.equal((await sides.grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
    const tag = async () => (await sides.alpha.call('GET', '/cashbacks/for-bank')).headers.get('etag')
    const before = await tag()
    await advance(platform, 'P29D')
    assert.equal((await segmentOf(sides.alpha, id))?.customersCount, 1)
    await advance(platform, 'P2D')
    assert.equal(await segmentOf(sides.alpha, id), null)
    assert.notEqual(await tag(), before)
    assert.deepEqual(await proven(), [])
  })

  test('the audit finds what is kept too long', async () => {
    const { campaign } = await completeCampaign()
    await advance(platform, 'P1D')
    await advance(platform, 'P95D')
    assert.deepEqual(await proven(), [])
    const { database } = platform.platform
    const found = async () => (await proven()).map(({ name }) => name)
    const kept = ['no lines of reports are kept for longer than KEEP_REPORT_LINES_DAYS']
    await database.execute(
      `insert into report_differences (report_id, place, kind, bank_line, transaction_id)
       select report_id, 1, 'wrong-cashback', 2, 'x-2' from reports where cashback_id = '${campaign.id}'`,
    )
    assert.deepEqual(await found(), kept, 'a difference')
    await database.execute('delete from report_differences')
    await database.execute(`update reports set lines_removed_at = null where cashback_id = '${campaign.id}'`)
    assert.deepEqual(await found(), ['reports add up', ...kept])
    await advance(platform, 'PT1S')
    assert.deepEqual(await proven(), [])
  })

  test('phone numbers go a year after the sale; unsold profiles keep theirs', async () => {
    const shop = await startPlatform({ KEEP_MSISDN_DAYS: '365' }, { directory: testDirectory })
    try {
      await shop.addStock('kyivstar', 'eu-10gb', 2)
      const token = await shop.bankToken()
      const order = async (externalId: string) => {
        const body = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId }
        return (await shop.call('POST', '/esim/v1/orders', { token, body })).body
      }
      const sold = await order('sold')
      const path = `/esim/v1/orders/${sold.orderId}`
      const confirmed = (await shop.call('POST', `${path}/confirm`, { token, body: {} })).body
      const cancelled = await order('cancelled')
      await shop.call('POST', `/esim/v1/orders/${cancelled.orderId}/cancel`, { token })
      assert.equal((await shop.call('GET', path, { token })).body.msisdn, confirmed.msisdn)
      await advance(shop, 'P364D')
      assert.equal((await shop.call('GET', path, { token })).body.msisdn, confirmed.msisdn)
      await advance(shop, 'P2D')
      assert.equal((await shop.call('GET', path, { token })).body.msisdn, null, 'also where it was kept in memory')
      const repeated = (await shop.call('POST', `${path}/confirm`, { token, body: {} })).body
      assert.equal(repeated.esim.activationCode, confirmed.esim.activationCode)
      assert.equal(repeated.msisdn, '')
      const again = await order('again')
      assert.match(again.msisdn, /^\+?\d+$/, 'what was given back is sold with its number')
    } finally {
      await shop.close()
    }
  })

  test('a start with a new setting applies it at once', async () => {
    const shop = await startPlatform({}, { directory: testDirectory })
    try {
      await shop.addStock('kyivstar', 'eu-10gb', 1)
      const token = await shop.bankToken()
      const body = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: 'sold' }
      const path = `/esim/v1/orders/${(await shop.call('POST', '/esim/v1/orders', { token, body })).body.orderId}`
      await shop.call('POST', `${path}/confirm`, { token, body: {} })
      await advance(shop, 'P400D')
      const next = await shop.sibling({ KEEP_MSISDN_DAYS: '365' })
      try {
        await until('the number is removed', async () => {
          return (await next.call('GET', path, { token })).body.msisdn === null
        })
      } finally {
        await next.close()
      }
    } finally {
      await shop.close()
    }
  })
})

test('without the settings everything is kept', async () => {
  const platform = await startPlatform({}, { directory: campaignDirectory })
  try {
    const sides = await openSides(platform)
    const id = await createCampaign(platform, {}, sides.grocer)
    await addCustomers(platform, 'alpha', customers('A', 1))
    await putSegment(sides.grocer, id, fileOf(['A-1']))
    await sides.grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)
    await advance(platform, 'P3650D')
    assert.equal((await segmentOf(sides.alpha, id))?.customersCount, 1)
  } finally {
    await platform.close()
  }
})
