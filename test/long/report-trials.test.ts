/**
 * Dry runs of a report, and clients that disconnect before the answer: nothing is stored for either
 * (contract/reconciliation.md, "Trials").
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { assertRefused, campaignDirectory, createCampaign, ids, type Partner } from '../support/campaigns.ts'
import { until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { openRaw, requestText } from '../support/raw-http.ts'
import {
  type Ended,
  endedCampaign,
  formOf,
  header,
  line,
  merchantHeader,
  openSides,
  reconciliationOf,
  reportOf,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../support/reconciliation.ts'
import { addCustomers, customers, fileOf, putSegment, segmentOf } from '../support/segments.ts'

let platform: TestPlatform
let sides: Sides
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
})
after(() => platform.close())

const database = () => platform.platform.database

/** Counts the rows that uploads have written, for all campaigns. */
async function stored() {
  const [counts] = await database().query<Record<string, number>>(
    `select (select count(*)::int from reports) as reports, (select count(*)::int from report_chunks) as chunks,
       (select count(*)::int from report_lines) as lines, (select count(*)::int from report_differences) as differences,
       (select count(*)::int from campaign_history) as history`,
  )
  return counts
}

const tryBank = async (id: string, file: string, query = 'dryRun=true') =>
  sides.alpha.call('POST', `/portal/cashbacks/${id}/bank-report?${query}`, await formOf({ file }))
const tryMerchant = async (id: string, file: string) =>
  sides.grocer.call(
    'POST',
    `/portal/cashbacks/${id}/banks/${ids.alpha}/merchant-report?dryRun=true`,
    await formOf({ file }),
  )

suite('?dryRun=true', () => {
  test('tells what the upload then tells, on both sides and in each round, and keeps nothing', async () => {
    const { alpha, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const rounds: [
      string,
      typeof tryBank | typeof tryMerchant,
      typeof uploadBank | typeof uploadMerchant,
      Partner,
      string,
    ][] = [
      [
        'the bank’s first',
        tryBank,
        uploadBank,
        alpha,
        reportOf(line(campaign, 'a'), line(campaign, 'a'), line(campaign, 'b', { cashback: '9.99' })),
      ],
      [
        'the merchant’s',
        tryMerchant,
        uploadMerchant,
        grocer,
        [
          merchantHeader,
          `a,T-0001,${campaign.at},200`,
          `b,T-0001,${campaign.at},150`,
          `c,T-0001,${campaign.at},1`,
        ].join('\n'),
      ],
      ['the bank’s second', tryBank, uploadBank, alpha, reportOf(line(campaign, 'a'), line(campaign, 'd'))],
    ]
    for (const [name, trial, upload, partner, file] of rounds) {
      const before = [await stored(), await reconciliationOf(partner, campaign.id)]
      const tried = await trial(campaign.id, file)
      assert.equal(tried.status, 200, `${name}: ${tried.text}`)
      assert.deepEqual([await stored(), await reconciliationOf(partner, campaign.id)], before, name)
      const uploaded = await upload(partner, campaign.id, file)
      assert.equal(uploaded.status, 201, uploaded.text)
      assert.deepEqual(tried.body, { ...uploaded.body, reportId: null, bankReportingStatus: null }, name)
      assert.ok(tried.body.differences.total > 0, name)
    }
  })

  test('is refused as the upload is: stage, form, query, role', async () => {
    const { alpha, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha])
    assertRefused(await tryMerchant(campaign.id, reportOf()), 400, /^No report of the merchant is awaited/)
    assertRefused(await tryBank(campaign.id, 'x'), 400, /^line 1: the header must be/)
    for (const wrong of ['perhaps', 'True', '1', ''])
      assertRefused(await tryBank(campaign.id, reportOf(), `dryRun=${wrong}`), 400, ['dryRun must be true or false'])
    assertRefused(await tryBank(campaign.id, reportOf(), 'dry=true'), 400, ['dry must be omitted'])
    const asMerchant = await grocer.call('POST', `/portal/cashbacks/${campaign.id}/bank-report?dryRun=true`)
    assertRefused(asMerchant, 403)
    const { bankReportingStatus, reports } = await reconciliationOf(alpha, campaign.id)
    assert.deepEqual([bankReportingStatus, reports], ['awaitingBankReconciliation', []])
    assert.equal((await tryBank(campaign.id, reportOf(), 'dryRun=false')).status, 201)
  })

  test('does not make an upload wait', async () => {
    const { alpha } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const lines = Array.from({ length: 30_000 }, (_, index) => line(campaign, `tx-${index}`))
    const trial = await send(
      alpha,
      `/portal/cashbacks/${campaign.id}/bank-report?dryRun=true`,
      reportOf(...lines),
      1_000_000,
    )
    await until('the trial has begun to write', async () => (await busy('^copy report_lines')) === 1)
    assert.equal((await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'a')))).status, 201)
    trial.socket.destroy()
    await until('the trial is over', async () => (await busy('report')) === 0)
  })
})

/** Sends a form completely or only its first bytes. */
async function send(partner: Partner, target: string, file: string, bytes = Number.POSITIVE_INFINITY, method = 'POST') {
  const { raw, headers } = await formOf({ file })
  const socket: Socket = await openRaw(platform.url)
  const authorization = `Bearer ${partner.token}`
  socket.write(requestText(method, target, { ...headers, authorization, 'content-length': String(raw.length) }))
  socket.write(raw.subarray(0, bytes))
  return { socket, rest: raw.subarray(bytes) }
}

/** Counts the other connections inside a transaction whose last statement matches the pattern. */
async function busy(pattern: string): Promise<number> {
  const [row] = await database().query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and query ~ $1`,
    [pattern],
  )
  return row?.count ?? 0
}

const waitsForCampaign = async (): Promise<boolean> => {
  const [row] = await database().query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query ~ 'campaigns'`,
  )
  return row?.count === 1
}

/** Disconnects the client when its file was read and compared and only the end of the transaction is missing. */
async function leaveAtTheEnd(
  campaign: Pick<Ended, 'id'>,
  begin: () => Promise<{ socket: Socket; rest: Uint8Array }>,
  started: string,
) {
  const accepted = once(platform.platform.app.server, 'connection')
  const { socket, rest } = await begin()
  const [served] = await accepted
  await until('the upload has begun to write', async () => (await busy(started)) === 1)
  await database().dedicated(async client => {
    await client.query('begin')
    await client.query('select from campaigns where cashback_id = $1 for update', [campaign.id])
    socket.write(rest)
    await until('all of it was read and compared', waitsForCampaign)
    const closed = once(served, 'close')
    socket.destroy()
    await closed
    await client.query('rollback')
  })
  await until('the upload has ended', async () => (await busy(`report|segment|staged`)) === 0)
}

suite('a client that leaves before its answer', () => {
  for (const side of ['bank', 'merchant'] as const)
    test(`a ${side}’s report is not kept, though its last byte was sent`, async () => {
      const { alpha, grocer } = sides
      const campaign = await endedCampaign(sides, [alpha])
      if (side === 'merchant')
        assert.equal((await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'a')))).status, 201)
      const before = [await stored(), await reconciliationOf(alpha, campaign.id)]
      const many = Array.from({ length: 200_000 }, (_, index) => line(campaign, `tx-${index}`))
      const path = side === 'bank' ? 'bank-report' : `banks/${ids.alpha}/merchant-report`
      await leaveAtTheEnd(
        campaign,
        () =>
          send(
            side === 'bank' ? alpha : grocer,
            `/portal/cashbacks/${campaign.id}/${path}`,
            [header, ...many].join('\n'),
            3_000_000,
          ),
        '^copy report_',
      )
      assert.deepEqual([await stored(), await reconciliationOf(alpha, campaign.id)], before)
      const again =
        side === 'bank' ? uploadBank(alpha, campaign.id, reportOf()) : uploadMerchant(grocer, campaign.id, reportOf())
      assert.equal((await again).status, 201)
    })

  test('a segment stays as it was', async () => {
    const { alpha, grocer } = sides
    await addCustomers(platform, 'alpha', customers('A', 50_000))
    const id = await createCampaign(platform, { participantsIds: [ids.alpha] }, grocer)
    assert.equal((await putSegment(grocer, id, fileOf(['A-1']))).status, 200)
    const before = await segmentOf(alpha, id)
    const file = fileOf(Array.from({ length: 50_000 }, (_, index) => `A-${index + 1}`))
    const begin = () => send(grocer, `/portal/cashbacks/${id}/segment`, file, 300_000, 'PUT')
    await leaveAtTheEnd({ id }, begin, '^copy staged_customers')
    assert.deepEqual(await segmentOf(alpha, id), before)
  })
})
