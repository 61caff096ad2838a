/** Transitions of campaigns by the clock (contract/campaigns.md, "The period"), over two platforms on one database. */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import {
  copyCampaigns,
  describeStep,
  historyOf,
  launchCampaign,
  moveClock,
  openPartners,
  type Partners,
  receiveCompensation,
  statusOf,
} from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids, inDays, partnerAt } from '../../support/campaigns.ts'
import { range, until } from '../../support/esim.ts'
import { onTime } from '../../support/on-time.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { putSegment } from '../../support/segments.ts'

let platform: TestPlatform
let sibling: TestPlatform
let partners: Partners
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sibling = await platform.sibling()
  partners = await openPartners(platform)
})
after(async () => {
  await sibling.close()
  await platform.close()
})
afterEach(() => platform.call('DELETE', '/sandbox/clock'))

const banksOf = async (id: string) =>
  (await partners.grocer.call('GET', `/cashbacks/for-merchant/${id}`)).body.banks as {
    id: string
    status: string
    bankReportingStatus: string | null
  }[]
const clockSteps = async (id: string) => (await historyOf(partners, id)).filter(({ actor }) => actor.type === 'clock')

suite('the period', () => {
  test('begins at dateFrom and not before', async () => {
    const dateFrom = inDays(platform, 10)
    const id = await launchCampaign(platform, partners, { dateFrom })
    await moveClock(platform, { now: new Date(Date.parse(dateFrom) - 3_600_000).toISOString() })
    assert.equal(await statusOf(partners.grocer, id), 'approved')
    await moveClock(platform, { now: dateFrom })
    assert.equal(await statusOf(partners.grocer, id), 'active')
    assert.deepEqual((await clockSteps(id)).map(describeStep), ['campaign start: approved -> active'])
  })

  test('ends at dateTo: approved banks stay approved and their reconciliation begins', async () => {
    const id = await launchCampaign(platform, partners, { participantsIds: [ids.alpha, ids.beta] })
    await moveClock(platform, { advance: 'P11D' })
    await moveClock(platform, { now: inDays(platform, 29.5) })
    assert.equal(await statusOf(partners.grocer, id), 'awaitingCompensationConfirmation')
    assert.deepEqual(
      (await banksOf(id)).map(({ id, status, bankReportingStatus }) => [id, status, bankReportingStatus]).sort(),
      [
        [ids.alpha, 'approved', 'awaitingBankReconciliation'],
        [ids.beta, 'expired', null],
      ],
    )
  })

  test('is over before anybody looked: it begins and ends, each once, in this order, at the clock’s time', async () => {
    const id = await launchCampaign(platform, partners)
    await moveClock(platform, { advance: 'P50D' })
    const steps = await clockSteps(id)
    assert.deepEqual(steps.map(describeStep), [
      'campaign start: approved -> active',
      'reporting end: null -> awaitingBankReconciliation',
      'campaign end: active -> awaitingCompensationConfirmation',
    ])
    const now = platform.platform.deps.campaigns.clock.now().getTime()
    for (const { at } of steps) assert.ok(Math.abs(Date.parse(at) - now) < 60_000, at)
    const { body } = await partners.grocer.call('GET', `/cashbacks/for-merchant/${id}`)
    assert.equal(body.updatedAt, steps.at(-1)?.at)
  })

  test('ends without a launch: the campaign and its pending and approved banks expire, one that declined did so', async () => {
    const participantsIds = [ids.alpha, ids.beta, ids.gamma]
    const id = await createCampaign(platform, { participantsIds }, partners.grocer)
    await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
    await partners.beta.call('POST', `/cashbacks/${id}/reject`)
    await moveClock(platform, { advance: 'P41D' })
    assert.equal(await statusOf(partners.grocer, id), 'expired')
    assert.deepEqual((await banksOf(id)).map(({ id, status }) => [id, status]).sort(), [
      [ids.alpha, 'expired'],
      [ids.beta, 'declined'],
      [ids.gamma, 'expired'],
    ])
    const late = await partners.grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)
    assert.equal(late.status, 400, late.text)
  })

  test('ends while the merchant has not decided', async () => {
    const id = await createCampaign(platform, {}, partners.grocer)
    await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
    assert.equal(await statusOf(partners.grocer, id), 'awaitingMerchantApproval')
    await moveClock(platform, { advance: 'P41D' })
    assert.equal(await statusOf(partners.grocer, id), 'expired')
  })

  test('passes over what was deleted', async () => {
    const id = await createCampaign(platform, {}, partners.grocer)
    assert.equal((await partners.grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
    await moveClock(platform, { advance: 'P41D' })
    assert.equal(await statusOf(partners.grocer, id), 'deleted')
    assert.deepEqual(await clockSteps(id), [])
  })

  test('has begun when the campaign is launched: active at most 2 s later, without anybody asking', t =>
    onTime(t, async () => {
      const id = await launchCampaign(platform, partners, { dateFrom: inDays(platform, -1) })
      const launchedAt = performance.now()
      while ((await statusOf(partners.grocer, id)) !== 'active') {
        assert.ok(performance.now() - launchedAt < 2_000, 'at most 2 s later')
        await sleep(50)
      }
    }))

  test('after the return to real time what was done stays done', async () => {
    const id = await launchCampaign(platform, partners)
    await moveClock(platform, { advance: 'P11D' })
    await platform.call('DELETE', '/sandbox/clock')
    await sleep(1_200)
    assert.equal(await statusOf(partners.grocer, id), 'active')
  })
})

suite('the last wait', () => {
  test('30 days after the compensation was received the campaign is completed', async () => {
    const id = await launchCampaign(platform, partners)
    await moveClock(platform, { advance: 'P41D' })
    await receiveCompensation(platform, id)
    await moveClock(platform, { advance: 'P29DT23H' })
    assert.equal(await statusOf(partners.grocer, id), 'compensationReceived')
    await moveClock(platform, { advance: 'PT2H' })
    assert.equal(await statusOf(partners.grocer, id), 'completed')
    const last = (await historyOf(partners, id)).at(-1)
    assert.deepEqual(
      [last && describeStep(last), last?.actor.type],
      ['campaign complete: compensationReceived -> completed', 'clock'],
    )
  })

  test('the setting says how long it is', async () => {
    const quick = await startPlatform({ COMPLETE_AFTER_DAYS: '1' }, { directory: campaignDirectory })
    try {
      const own = await openPartners(quick)
      const id = await launchCampaign(quick, own)
      await moveClock(quick, { advance: 'P41D' })
      await receiveCompensation(quick, id)
      await moveClock(quick, { advance: 'P1D' })
      assert.equal(await statusOf(own.grocer, id), 'completed')
    } finally {
      await quick.close()
    }
  })
})

suite('several processes', () => {
  test('move the same campaigns, each once, and whoever moves the clock answers when all are moved', async () => {
    const begins = Date.parse(inDays(platform, 10))
    const given = { dateFrom: new Date(begins).toISOString() }
    const { database } = platform.platform
    const campaigns = await copyCampaigns(database, await launchCampaign(platform, partners, given), 900)
    const countActive = async () => {
      const [row] = await database.query<{ count: number }>(
        `select count(*) from campaigns where cashback_id = any($1) and status = 'active'`,
        [campaigns],
      )
      return row?.count
    }
    // The third of these advances reaches the start, and the fourth passes it.
    const seen = await Promise.all(
      [platform, sibling, platform, sibling].map(async at => {
        const answer = await at.call('POST', '/sandbox/clock', { body: { advance: 'P4D' } })
        assert.equal(answer.status, 200, answer.text)
        return { hasBegun: Date.parse(answer.body.now) >= begins, active: await countActive() }
      }),
    )
    assert.ok(seen.some(({ hasBegun }) => hasBegun))
    for (const { hasBegun, active } of seen) if (hasBegun) assert.equal(active, campaigns.length)
    const entries = await database.query<{ entries: number }>(
      `select count(*) as entries from campaign_history
       where cashback_id = any($1) and actor_type = 'clock' group by cashback_id`,
      [campaigns],
    )
    assert.deepEqual(new Set(entries.map(({ entries }) => entries)), new Set([1]))
    assert.equal(entries.length, campaigns.length)
  })

  test('a campaign that somebody is busy with is waited for, and the others are not held up by it', async () => {
    const [busy, other] = [await launchCampaign(platform, partners), await launchCampaign(platform, partners)]
    const { database } = platform.platform
    let answered = false
    const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = database.dedicated(async client => {
      await client.query('begin')
      await client.query('select from campaigns where cashback_id = $1 for update', [busy])
      locked.resolve()
      await held.promise
      await client.query('commit')
    })
    await locked.promise
    const moving = moveClock(platform, { advance: 'P11D' }).then(() => {
      answered = true
    })
    await until(
      'the jobs of both processes pass it over',
      async () => (await statusOf(partners.grocer, other)) === 'active',
    )
    // A request that moves the clock waits for other processes for less than 500 ms. If it has no answer after 500 ms,
    // it waits for the locked campaign.
    await sleep(500)
    assert.equal(await statusOf(partners.grocer, busy), 'approved')
    assert.equal(answered, false)
    held.resolve()
    await holding
    await moving
    assert.equal(await statusOf(partnerAt(sibling, partners.grocer.token), busy), 'active')
  })

  test('the end of the period against launches, decisions and segments: each comes first or is refused, never half', async () => {
    const seen = { launch: new Set<string>(), confirm: new Set<string>(), segment: new Set<string>() }
    const elsewhere = partnerAt(sibling, partners.grocer.token)
    const rounds = 20
    for (let round = 0; round < rounds && Object.values(seen).some(({ size }) => size < 2); round++) {
      const period = { dateFrom: inDays(platform, -1), dateTo: inDays(platform, 1) }
      const made = await Promise.all(range(22).map(() => createCampaign(platform, period, partners.grocer)))
      await Promise.all(made.slice(0, 10).map(id => partners.alpha.call('POST', `/cashbacks/${id}/confirm`)))
      // Each round ends the period after a longer delay than the round before. The machine's speed is unknown, so in
      // this way some periods end before the requests and some after them.
      const spreadMs = 60 * 2 ** Math.floor(round / 4)
      const requests = made.map(async (id, index) => {
        await sleep(Math.random() * spreadMs)
        if (index < 10) return elsewhere.call('POST', `/cashbacks/for-merchant/${id}/confirm`)
        if (index < 20) return partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
        // Only the last two campaigns get a segment, because a merchant may upload at most two at once.
        return putSegment(elsewhere, id, 'customerId\n')
      })
      const ends = sleep((round % 4) * spreadMs).then(() => moveClock(platform, { advance: 'P2D' }))
      const [, ...answers] = await Promise.all([ends, ...requests])
      for (const [index, id] of made.entries()) {
        const { status = 0, text } = answers[index] ?? {}
        assert.ok([200, 201, 400].includes(status), text)
        const wasLaunched = index < 10 && status === 201
        assert.equal(await statusOf(elsewhere, id), wasLaunched ? 'awaitingCompensationConfirmation' : 'expired')
        const kind = index < 10 ? 'launch' : index < 20 ? 'confirm' : 'segment'
        seen[kind].add(status === 400 ? 'refused' : 'done')
      }
    }
    for (const [kind, outcomes] of Object.entries(seen)) assert.equal(outcomes.size, 2, `${kind}: ${[...outcomes]}`)
    const { ok, checks } = await audit(platform.platform.deps.admin, new Date())
    assert.ok(ok, JSON.stringify(checks.filter(check => !check.ok)))
  })
})
