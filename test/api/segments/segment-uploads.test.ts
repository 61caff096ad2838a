/** Uploads of segments that break off, are slow, or run at the same time (contract/campaigns.md, "Segments"). */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, afterEach, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryable } from '../../../src/db/database.ts'
import { lockCustomers } from '../../../src/segments/customers-store.ts'
import { launchCampaign, openPartners, statusOf } from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids, type Partner } from '../../support/campaigns.ts'
import { range, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { race, together } from '../../support/race.ts'
import { formOf } from '../../support/reconciliation.ts'
import { addCustomers, customers, fileOf, putSegment, segmentOf } from '../../support/segments.ts'

let platform: TestPlatform
let grocer: Partner
let alpha: Partner
let beta: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  ;({ grocer, alpha, beta } = await openPartners(platform))
  await addCustomers(platform, 'alpha', customers('A', 50_000))
  await addCustomers(platform, 'beta', customers('B', 50_000))
})
after(() => platform.close())
afterEach(async () => {
  await platform.call('DELETE', '/sandbox/clock')
  await forgetUploads()
})

/** Deletes the counts of uploads, as if a new day had begun for the daily limit. */
const forgetUploads = () => platform.platform.database.execute('delete from segment_uploads')

const forBoth = { participantsIds: [ids.alpha, ids.beta] }
const newCampaign = (overrides: Record<string, unknown> = forBoth) => createCampaign(platform, overrides, grocer)
const path = (id: string) => `/portal/cashbacks/${id}/segment`

async function formed(id: string, file: string | Uint8Array, fileName?: string) {
  const answer = await putSegment(grocer, id, file, fileName)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

suite('broken off and at once', () => {
  /** Sends all but the end of a form. */
  async function begin(id: string, text: string, token = grocer.token) {
    const { raw, headers } = await formOf({ file: text })
    const sending = request(`${platform.url}${path(id)}`, {
      method: 'PUT',
      headers: { ...headers, authorization: `Bearer ${token}`, 'content-length': raw.length },
    })
    sending.on('error', () => {})
    const answered = new Promise<number | undefined>(resolve =>
      sending.once('response', answer => resolve(answer.resume().statusCode)),
    )
    const held = 100
    sending.write(raw.subarray(0, raw.length - held))
    return {
      kill: () => void sending.destroy(),
      finish: () => {
        sending.end(raw.subarray(raw.length - held))
        return answered
      },
    }
  }
  const file = fileOf(customers('A', 20_000))

  /** Waits until this many transactions of uploads are open. */
  async function untilOpen(count: number): Promise<void> {
    const giveUpAt = performance.now() + 10_000
    for (;;) {
      const [row] = await platform.platform.database.query<{ open: number }>(
        `select count(*) as open from pg_stat_activity
         where datname = current_database() and query like 'copy staged_customers%' and state = 'active'`,
      )
      if (row?.open === count) return
      assert.ok(performance.now() < giveUpAt, `${row?.open} uploads are open`)
      await sleep(20)
    }
  }

  test('an upload that is killed leaves the segment as it was, and no transaction', async () => {
    const id = await newCampaign()
    await formed(id, fileOf(['A-1']))
    const upload = await begin(id, file)
    await untilOpen(1)
    upload.kill()
    await untilOpen(0)
    assert.deepEqual((await segmentOf(alpha, id))?.customerIds, ['A-1'])
  })

  test('a slow upload delays no other change, and is refused when the campaign was deleted meanwhile', async () => {
    const id = await newCampaign()
    const upload = await begin(id, file)
    await untilOpen(1)
    assert.equal((await alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
    assert.equal((await grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
    assert.equal(await upload.finish(), 400)
    assert.equal(await segmentOf(alpha, id), null)
  })

  test('an upload is refused at its end when its credential was revoked meanwhile', async () => {
    const id = await newCampaign()
    const { operatorKey } = platform.config
    const admin = (target: string, body?: object) =>
      platform.call('POST', target, { token: operatorKey, ...(body && { body }) })
    const { body: issued } = await admin('/admin/credentials', { merchant: 'grocer', label: 'revoked' })
    const { body } = await platform.call('POST', '/getToken/auth', { body: issued })
    const upload = await begin(id, file, body.access_token)
    await untilOpen(1)
    assert.equal((await admin(`/admin/credentials/${issued.clientId}/revoke`)).status, 200)
    while ((await platform.call('GET', '/retailers', { token: body.access_token })).status !== 401) await sleep(20)
    assert.equal(await upload.finish(), 401)
    assert.equal(await segmentOf(alpha, id), null)
  })

  test('two uploads at once: one whole file stands, never a mixture', async () => {
    const id = await newCampaign()
    const files = [
      ['A-1', 'B-1'],
      ['A-2', 'B-2'],
    ] as const
    const put = (file: readonly string[]) => putSegment(grocer, id, fileOf(file))
    const round = async (lead: number) => {
      await forgetUploads()
      const answers = await together(
        lead,
        () => put(files[0]),
        () => put(files[1]),
      )
      for (const { status, text } of answers) assert.equal(status, 200, text)
      const stands = [
        ...((await segmentOf(alpha, id))?.customerIds ?? []),
        ...((await segmentOf(beta, id))?.customerIds ?? []),
      ]
      return `${stands}`
    }
    await race(files.map(String), round, 5)
  })

  test('uploads beyond what one merchant may run at once wait for their turn', async () => {
    const campaigns = [await newCampaign(), await newCampaign(), await newCampaign()] as const
    const running = [await begin(campaigns[0], file), await begin(campaigns[1], file)] as const
    await untilOpen(2)
    let ended = false
    const third = formed(campaigns[2], fileOf(['A-1'])).finally(() => {
      ended = true
    })
    await sleep(300)
    assert.equal(ended, false)
    running[0].kill()
    await third
    assert.equal(await running[1].finish(), 200)
  })

  test('senders that have hardly begun keep no turn', async () => {
    const campaigns = [await newCampaign(), await newCampaign(), await newCampaign()] as const
    const slow = [await begin(campaigns[0], fileOf(['A-1'])), await begin(campaigns[1], fileOf(['A-1']))]
    await formed(campaigns[2], fileOf(['A-1']))
    for (const upload of slow) upload.kill()
  })

  test('an upload that starts its campaign, as it is due, and another one of the merchant do not wait for each other', async () => {
    const { database } = platform.platform
    const starting = await launchCampaign(platform, { grocer, alpha, beta })
    const other = await newCampaign()
    await formed(other, fileOf(['A-1']))
    /** How many statements like this one wait for a lock. */
    const waiting = async (statement: string): Promise<number> => {
      const found = await database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
        [`%${statement}%`],
      )
      return found.length
    }
    const uploadsWait = () => waiting('hashtextextended($1, 23)')
    const [customersLock, startLock, segmentLock] = [
      await database.connect(),
      await database.connect(),
      await database.connect(),
    ]
    const locks = [customersLock, startLock, segmentLock]
    try {
      for (const lock of locks) await lock.query('begin')
      await lockCustomers(queryable(customersLock))
      let isStarted = false
      const uploads = [
        putSegment(grocer, starting, fileOf(['A-2'])).finally(() => {
          isStarted = true
        }),
        putSegment(grocer, other, fileOf(['A-3'])),
      ]
      await until('both were read', async () => (await waiting('pg_advisory_xact_lock_shared')) === 2)
      await startLock.query(`update campaigns set date_from = now() - interval '1 minute' where cashback_id = $1`, [
        starting,
      ])
      await segmentLock.query('select from campaign_segments where cashback_id = $1 for update', [other])
      await customersLock.query('commit')
      const blocked = async () =>
        (await uploadsWait()) +
        (await waiting('from campaigns where')) +
        (await waiting('delete from campaign_segments'))
      await until('both wait for the locks', async () => (await blocked()) === 2)
      await startLock.query('commit')
      await until('the start is done', async () => isStarted || (await uploadsWait()) === 1)
      await segmentLock.query('commit')
      for (const { status, text } of await Promise.all(uploads)) assert.equal(status, 200, text)
    } finally {
      for (const lock of locks) await lock.end()
    }
    assert.equal(await statusOf(grocer, starting), 'active')
  })

  test('ten small ones of one merchant at once are all taken', async () => {
    const campaigns = await Promise.all(range(10).map(() => newCampaign()))
    const answers = await Promise.all(campaigns.map(id => putSegment(grocer, id, fileOf(['A-1']))))
    for (const { status, text } of answers) assert.equal(status, 200, text)
  })
})
