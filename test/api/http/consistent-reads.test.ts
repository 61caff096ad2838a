/**
 * An answer that is built from several statements shows one moment, also while others change what it shows. Each test
 * stops a read between two of its statements by a lock, changes something, and lets the read go on.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  campaignDirectory,
  createCampaign,
  openCampaignBank,
  type Partner,
  partnerAt,
} from '../../support/campaigns.ts'
import { type Bank, openBank, until } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

const directory = `${campaignDirectory}${testDirectory.slice(testDirectory.indexOf('esim:\n'))}`

let platform: TestPlatform
let operator: Partner
let alpha: Partner
let bank: Bank
let holder: pg.Client
before(async () => {
  // No worker runs here, because its jobs would wait for the locks, too.
  platform = await startPlatform({}, { directory, only: ['auth', 'cashback', 'esim', 'partner', 'portal', 'admin'] })
  operator = partnerAt(platform, platform.config.operatorKey)
  alpha = await openCampaignBank(platform)
  bank = await openBank(platform, alpha.token)
  await platform.addStock('kyivstar', 'eu-10gb', 100)
  holder = new pg.Client({ connectionString: platform.databaseUrl })
  await holder.connect()
})
after(async () => {
  await holder.end()
  await platform.close()
})

/** How many statements of the platform wait for the lock. */
async function waiting(): Promise<number> {
  const [row] = await platform.platform.database.query<{ count: number }>(
    `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return row?.count ?? 0
}

/**
 * Starts a read, waits until it needs a table that is locked, and then makes a change.
 *
 * @param table only a later statement of the read needs this table, and the change does not
 * @returns the answer to the read
 */
async function during(table: string, read: () => Promise<Answer>, change: () => Promise<unknown>): Promise<Answer> {
  await holder.query(`begin; lock table ${table} in access exclusive mode`)
  try {
    const reading = read()
    await until('the read waits', async () => (await waiting()) === 1)
    await change()
    await holder.query('rollback')
    const answer = await reading
    assert.equal(answer.status, 200, answer.text)
    return answer
  } finally {
    await holder.query('rollback')
  }
}

/** Checks the answer to a change. */
async function done(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer
  assert.ok(status < 300, text)
}

let orders = 0
async function reserve(): Promise<string> {
  const answer = await bank.reserve(`consistent-${++orders}`)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.orderId
}

suite('orders', () => {
  const lists: [path: string, reader: () => Partner][] = [
    ['/partner/v1/orders', () => alpha],
    ['/portal/esim/orders', () => alpha],
    ['/admin/orders', () => operator],
  ]
  for (const [path, reader] of lists)
    test(`GET ${path} has only orders of the status that it asks for`, async () => {
      const [cancelled, confirmed, left] = [await reserve(), await reserve(), await reserve()]
      const read = () => reader().call('GET', `${path}?status=reserved`)
      const { body } = await during('statements', read, async () => {
        await done(bank.cancel(cancelled))
        await done(bank.confirm(confirmed))
      })
      const statuses = body.data.map(({ status }: { status: string }) => status)
      assert.deepEqual(statuses, ['reserved', 'reserved', 'reserved'])
      const next = (await read()).body.data.map(({ orderId }: { orderId: string }) => orderId)
      assert.deepEqual(next, [left], 'the next answer has the change')
      await done(bank.cancel(left))
    })

  for (const [path, reader] of lists.slice(1))
    test(`POST ${path}/search has only orders that hold the profile`, async () => {
      const orderId = await reserve()
      const { msisdn } = (await bank.read(orderId)).body
      const read = () => reader().call('POST', `${path}/search`, { body: { msisdn } })
      const { body } = await during('statements', read, () => done(bank.cancel(orderId)))
      assert.deepEqual([body.data[0].status, body.data[0].msisdn], ['reserved', msisdn])
      assert.deepEqual((await read()).body.data, [])
    })

  const timelines: [path: (orderId: string) => string, reader: () => Partner][] = [
    [orderId => `/partner/v1/orders/${orderId}/timeline`, () => alpha],
    [orderId => `/portal/esim/orders/${orderId}`, () => alpha],
    [orderId => `/admin/orders/${orderId}`, () => operator],
  ]
  for (const [pathOf, reader] of timelines)
    test(`${pathOf('…')} shows reads of the activation data only after the confirm`, async () => {
      const orderId = await reserve()
      const read = () => reader().call('GET', pathOf(orderId))
      const events = ({ body }: Answer): string[] =>
        (body.timeline ?? body.data).map(({ event }: { event: string }) => event.replaceAll('_', '-'))
      // The reads are counted here, because no worker runs that would store the counts later.
      const shown = await during('activation_reads', read, async () => {
        await done(bank.confirm(orderId))
        await holder.query(
          `insert into activation_reads (order_id, kind, caller, reads, first_at, last_at)
           values ($1, 'qr_read', 'system someone', 1, now(), now())`,
          [orderId],
        )
        await holder.query('commit')
      })
      assert.ok(!events(shown).includes('qr-read') || events(shown).includes('confirmed'), events(shown).join())
      assert.ok(events(await read()).includes('qr-read'))
    })
})

suite('the table of a bank', () => {
  const read = (query: string) => alpha.call('GET', `/portal/cashbacks?pageSize=100&${query}`)

  test('has only campaigns that match its filter, and counts them', async () => {
    const [decided, edited] = [await createCampaign(platform), await createCampaign(platform)]
    const { body } = await during(
      'countries',
      () => read('bankStatus=pending'),
      () => done(alpha.call('POST', `/cashbacks/${decided}/confirm`)),
    )
    const shown = body.data.map(({ cashbackId, bankStatus }: any) => [cashbackId, bankStatus])
    assert.deepEqual(shown, [
      [edited, 'pending'],
      [decided, 'pending'],
    ])
    assert.equal(body.pagination.totalItems, 2)
    assert.equal((await read('bankStatus=pending')).body.pagination.totalItems, 1)
    await done(alpha.call('POST', `/cashbacks/${edited}/reject`))
  })

  test('is sorted by what it shows', async () => {
    const earlier = await createCampaign(platform, { name: 'Sorted' })
    const later = await createCampaign(platform, { name: 'Sorted' })
    const query = 'name=Sorted&sortBy=updatedAt'
    const change = () => done(alpha.call('POST', `/cashbacks/${earlier}/confirm`))
    const { data } = (await during('countries', () => read(query), change)).body
    const shown = data.map(({ cashbackId, updatedAt }: any) => [cashbackId, updatedAt])
    assert.deepEqual(idsOf(data), [later, earlier])
    assert.ok(data[0].updatedAt >= data[1].updatedAt, shown.join())
    assert.deepEqual(idsOf((await read(query)).body.data), [earlier, later])
  })
})

const idsOf = (campaigns: { cashbackId: string }[]): string[] => campaigns.map(({ cashbackId }) => cashbackId)

suite('the campaigns of all merchants', () => {
  test('match the filter, and are counted', async () => {
    const id = await createCampaign(platform)
    const read = () => operator.call('GET', '/admin/campaigns?bank=alpha&status=awaitingBankApproval&pageSize=50')
    const { body } = await during('merchants', read, () => done(alpha.call('POST', `/cashbacks/${id}/confirm`)))
    const statuses = body.data.map(({ status }: { status: string }) => status)
    assert.ok(statuses.length > 0)
    assert.deepEqual(new Set(statuses), new Set(['awaitingBankApproval']))
    assert.equal(body.pagination.totalItems, body.data.length)
    assert.equal((await read()).body.pagination.totalItems, body.data.length - 1)
  })

  test('the status of one is the last status of its history, and its reader is recorded', async () => {
    const id = await createCampaign(platform)
    // The read is recorded only when the test allows it.
    await holder.query(`
      create function hold_record() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock_shared(4711); return new; end';
      create trigger hold_record before insert on outbox for each row
        when (new.data->>'action' = 'campaign.read') execute function hold_record();
      select pg_advisory_lock(4711)`)
    try {
      const reading = operator.call('GET', `/admin/campaigns/${id}`)
      await until('the read is being recorded', async () => (await waiting()) === 1)
      await done(alpha.call('POST', `/cashbacks/${id}/confirm`))
      assert.equal(await Promise.race([reading, sleep(100, 'open')]), 'open', 'no answer before the entry is stored')
      await holder.query('select pg_advisory_unlock(4711)')
      const { body } = await reading
      const last = body.history.findLast(({ subject }: { subject: string }) => subject === 'campaign')
      assert.deepEqual([body.status, last.to], ['awaitingBankApproval', 'awaitingBankApproval'])
    } finally {
      await holder.query(
        'drop trigger hold_record on outbox; drop function hold_record; select pg_advisory_unlock_all()',
      )
    }
  })
})

test('the counts of a home page are those of its tasks', async () => {
  const id = await createCampaign(platform)
  const read = () => alpha.call('GET', '/portal/home?pageSize=100&kind=decide-invitation&waitsFor=me')
  const { body } = await during('banks', read, () => done(alpha.call('POST', `/cashbacks/${id}/confirm`)))
  const { tasks, counts } = body
  assert.ok(tasks.length > 0)
  assert.equal(tasks.length, counts.byBankStatus.pending)
  assert.equal((await read()).body.counts.byBankStatus.pending, tasks.length - 1)
})

test('the reserved profiles of a tariff are those that its banks hold', async () => {
  const orderId = await reserve()
  const read = () => operator.call('GET', '/admin/stock-desk')
  const { body } = await during('banks', read, () => done(bank.cancel(orderId)))
  const tariff = body.find(({ tariffCode }: { tariffCode: string }) => tariffCode === 'eu-10gb')
  assert.deepEqual([tariff.reserved, tariff.holders], [1, [{ bank: 'alpha', reserved: 1 }]])
})

test('a day of a bank’s statements is listed or missing', async () => {
  const insert = (number: number, daysAgo: number) =>
    holder.query(
      `insert into statements (statement_id, bank_id, number, day, time_zone, from_at, to_at, closed_at, commission_percentage, totals,
         by_tariff, lines, late, sha256)
       select gen_random_uuid(), bank_id, $1, d.day, 'UTC', d.day::timestamp at time zone 'UTC', (d.day + 1)::timestamp at time zone 'UTC',
         now(), 0, '[]', '[]', 0, 0, sha256('')
       from banks, (select (now() at time zone 'UTC')::date - $2::int as day) d where code = 'beta'`,
      [number, daysAgo],
    )
  await insert(1, 4)
  const days = ({ body }: Answer) => [body.data, body.missing].map(list => list.map(({ day }: { day: string }) => day))
  const read = () => operator.call('GET', '/admin/statements?bank=beta')
  const before = days(await read())
  assert.deepEqual([before[0]?.length, before[1]?.length], [1, 1])
  const shown = await during('statement_lines', read, async () => {
    await insert(2, 1)
    await holder.query('commit')
  })
  assert.deepEqual(days(shown), before)
  assert.equal((await read()).body.data.length, 2)
})

suite('a connection is free of its snapshot', () => {
  /** More requests than there are connections for these reads. */
  const everyConnection = Array.from({ length: 8 }, (_, index) => index)
  const openTransactions = () =>
    platform.platform.database.query(
      `select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'
         and pid <> pg_backend_pid()`,
    )
  /** Checks that reads on all connections see a new order at once. */
  async function assertFresh(): Promise<void> {
    const orderId = await reserve()
    const answers = await Promise.all(
      everyConnection.map(() => operator.call('GET', `/admin/orders?orderId=${orderId}&status=reserved`)),
    )
    assert.deepEqual(
      answers.map(({ body }) => body.data.length),
      everyConnection.map(() => 1),
    )
    await done(bank.cancel(orderId))
    assert.equal((await openTransactions()).length, 0)
  }

  test('after the work has failed', async () => {
    const unknown = '/admin/orders/019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'
    const answers = await Promise.all(everyConnection.map(() => operator.call('GET', unknown)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]))
    await assertFresh()
  })

  test('after a statement that waited too long for a lock', async () => {
    await holder.query('begin; lock table statements in access exclusive mode')
    await reserve()
    const { status, headers } = await operator.call('GET', '/admin/orders')
    await holder.query('rollback')
    assert.equal(status, 503)
    assert.match(headers.get('retry-after') ?? '', /^\d+$/)
    await assertFresh()
  })

  test('after the reader has left', async () => {
    await holder.query('begin; lock table statements in access exclusive mode')
    const leaving = new AbortController()
    const reading = everyConnection.map(() =>
      fetch(`${platform.url}/admin/orders`, {
        headers: { authorization: `Bearer ${operator.token}` },
        signal: leaving.signal,
      }),
    )
    await until('reads wait', async () => (await waiting()) > 0)
    leaving.abort()
    await Promise.allSettled(reading)
    await until('nothing waits', async () => (await waiting()) === 0)
    await holder.query('rollback')
    await assertFresh()
  })
})
