/**
 * Uploads of reports: what is refused, and that a failed upload leaves nothing behind (contract/reconciliation.md, "The
 * report file").
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertRefused, campaignDirectory, ids } from '../support/campaigns.ts'
import { tally, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { race, together } from '../support/race.ts'
import { openRaw, readRaw, requestText } from '../support/raw-http.ts'
import {
  type Ended,
  endedCampaign,
  formOf,
  header,
  leavesNoReport,
  line,
  openSides,
  reconciliationOf,
  reportOf,
  runningCampaign,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let campaign: Ended
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  campaign = await endedCampaign(sides, [sides.alpha])
})
after(() => platform.close())

const path = () => `/portal/cashbacks/${campaign.id}/bank-report`

const leavesNothing = (work: () => Promise<unknown>): Promise<void> =>
  leavesNoReport(platform.platform.database, { bank: sides.alpha, campaignId: campaign.id }, work)

const send = (raw: string | Uint8Array, contentType: string) =>
  sides.alpha.call('POST', path(), { raw, headers: { 'content-type': contentType } })
const cut = 'multipart/form-data; boundary=cut'
const part = (disposition: string, content: string) =>
  `--cut\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`
const file = () => part('name="file"; filename="a.csv"', reportOf(line(campaign, 'a')))

suite('forms', () => {
  const cases: [string, () => string, string[] | string][] = [
    ['no file', () => '--cut--\r\n', ['file must be given']],
    ['a second file', () => `${file()}${file()}--cut--\r\n`, ['file must be given once only']],
    [
      'another field’s name',
      () => `${part('name="report"; filename="a.csv"', 'x')}--cut--\r\n`,
      ['report must be omitted', 'file must be given'],
    ],
    ['a comment of a bank', () => `${file()}${part('name="comment"', 'x')}--cut--\r\n`, ['comment must be omitted']],
    [
      'a text for a file',
      () => `${part('name="file"', reportOf())}--cut--\r\n`,
      ['file must be a file that has a name'],
    ],
    ['a form that breaks off', () => file(), 'The form must be whole: it ends before its closing boundary'],
  ]
  for (const [name, body, message] of cases)
    test(`400: ${name}`, () => leavesNothing(async () => assertRefused(await send(body(), cut), 400, message)))

  test('400: no boundary', () =>
    leavesNothing(async () =>
      assertRefused(
        await send(file(), 'multipart/form-data'),
        400,
        'The body must be multipart/form-data with a boundary',
      ),
    ))
  test('400: no body', () =>
    leavesNothing(async () =>
      assertRefused(
        await sides.alpha.call('POST', path()),
        400,
        'The body must be multipart/form-data with a boundary',
      ),
    ))
  test('400: a form’s type, and no body announced at all', () =>
    leavesNothing(async () => {
      const headers = { authorization: `Bearer ${sides.alpha.token}`, 'content-type': cut }
      const socket = await openRaw(platform.url)
      // Sends the request twice on one connection, to check that the connection still works after the first answer.
      for (const _ of [1, 2]) {
        socket.write(requestText('POST', path(), headers))
        const { status, body, headers: given } = await readRaw(socket)
        assertRefused(
          { status, body, headers: new Headers(given) } as never,
          400,
          'The form must be whole: it ends before its closing boundary',
        )
      }
      socket.destroy()
    }))
  for (const type of ['application/json', 'text/csv', 'application/x-www-form-urlencoded'])
    test(`415: ${type}`, () =>
      leavesNothing(async () => assertRefused(await send('{}', type), 415, 'The body must be multipart/form-data')))

  test('400: a merchant’s comment of more than 1000 characters', async () => {
    const { alpha, grocer } = sides
    const own = await endedCampaign(sides, [alpha])
    assert.equal((await uploadBank(alpha, own.id, reportOf())).status, 201)
    const comment = '😀'.repeat(1_000)
    const long = await uploadMerchant(grocer, own.id, { file: reportOf(), comment: `${comment}!` })
    assertRefused(long, 400, ['comment must be shorter than or equal to 1000 characters'])
    for (const control of ['\u0007', '\u009b']) {
      const refused = await uploadMerchant(grocer, own.id, { file: reportOf(), comment: `a${control}b` })
      assertRefused(refused, 400, [
        'comment must be a text without control characters and without characters that turn its direction',
      ])
    }
    const whole = await uploadMerchant(grocer, own.id, { file: reportOf(), comment })
    assert.equal(whole.status, 201, whole.text)
    assert.equal((await reconciliationOf(alpha, own.id)).reports[1].comment, comment)
  })
})

suite('files', () => {
  test('400: faults by line, column and value, all of a line', () =>
    leavesNothing(async () => {
      const lines = [
        line(campaign, 'a'),
        line(campaign, 'b', { amount: '"12,5"', cashback: '-1' }),
        'x',
        line(campaign, ''),
        ',,,,',
      ]
      assertRefused(await uploadBank(sides.alpha, campaign.id, reportOf(...lines)), 400)
      const answer = await uploadBank(sides.alpha, campaign.id, reportOf(...lines))
      assert.deepEqual(answer.body.message, [
        'line 3: amount must be a decimal number with at most 2 decimals, not "12,5"',
        'line 3: cashbackAmount must be at least 0, not "-1"',
        'line 4: must have 5 values, as the header has, not 1',
        'line 5: transactionId must be one line of 1 to 128 characters, not ""',
        'line 6: must have 5 values, as the header has, not 0',
        '5 errors in all: nothing was kept',
      ])
      assert.deepEqual(answer.body.problems.slice(0, 3), [
        { line: 3, column: 'amount', rule: 'decimal', params: { decimals: 2 }, value: '12,5' },
        { line: 3, column: 'cashbackAmount', rule: 'min', params: { min: 0 }, value: '-1' },
        { line: 4, column: null, rule: 'value-count', params: { expected: 5, found: 1 }, value: null },
      ])
      assert.equal(answer.body.problemCount, 5)
    }))

  test('400: the first 20 faults, and how many there are in all', () =>
    leavesNothing(async () => {
      const answer = await uploadBank(sides.alpha, campaign.id, reportOf(...Array.from({ length: 3_000 }, () => 'x')))
      const { message, problems, problemCount } = answer.body
      assert.deepEqual([problems.length, problemCount], [20, 3_000])
      assert.equal(message.length, 21)
      assert.equal(message[19], 'line 21: must have 5 values, as the header has, not 1')
      assert.equal(message[20], '... and 2980 more errors; 3000 errors in all: nothing was kept')
    }))

  test('400: an empty file, and one without its header', () =>
    leavesNothing(async () => {
      assertRefused(await uploadBank(sides.alpha, campaign.id, ''), 400, [
        'file must not be empty: its line 1 is the header',
      ])
      assertRefused(await uploadBank(sides.alpha, campaign.id, line(campaign, 'a')), 400, /^line 1: the header must be/)
    }))

  test('400: a fault in the last of 200,000 lines', () =>
    leavesNothing(async () => {
      const many = Array.from({ length: 200_000 }, (_, index) => line(campaign, `tx-${index}`))
      const answer = await uploadBank(
        sides.alpha,
        campaign.id,
        [header, ...many, line(campaign, 'x', { amount: 'x' })].join('\n'),
      )
      assertRefused(answer, 400, [
        'line 200002: amount must be a decimal number with at most 2 decimals, not "x"',
        '1 error in all: nothing was kept',
      ])
    }))
})

const longReport = () =>
  [header, ...Array.from({ length: 100_000 }, (_, index) => line(campaign, `tx-${index}`))].join('\n')

/** Begins an upload and sends this much of its form. */
async function beginUpload(bytes: number, id = campaign.id): Promise<{ socket: Socket; rest: Uint8Array }> {
  const { raw, headers } = await formOf({ file: longReport() })
  const socket = await openRaw(platform.url)
  const target = `/portal/cashbacks/${id}/bank-report`
  const authorization = `Bearer ${sides.alpha.token}`
  socket.write(requestText('POST', target, { ...headers, authorization, 'content-length': String(raw.length) }))
  socket.write(raw.subarray(0, bytes))
  return { socket, rest: raw.subarray(bytes) }
}

/** Counts the transactions in which an upload has begun to write, and those of them that wait for more data. */
async function writing() {
  const [row] = await platform.platform.database.query<{ all: number; waiting: number }>(
    `select count(*)::int as all, (count(*) filter (where state = 'idle in transaction'))::int as waiting
     from pg_stat_activity
     where datname = current_database() and xact_start is not null and query ~ '^(copy report_chunks|copy report_lines)'`,
  )
  return row
}

const uploading = () =>
  until('the upload waits for more within its transaction', async () => (await writing())?.waiting === 1)
const nobodyUploads = () => until('no upload has a transaction', async () => (await writing())?.all === 0)

suite('uploads that go wrong', () => {
  test('a client that is killed leaves nothing', () =>
    leavesNothing(async () => {
      const { socket } = await beginUpload(3_000_000)
      await uploading()
      socket.destroy()
      await nobodyUploads()
    }))

  test('503: the database connection of an upload is lost; nothing is left', () =>
    leavesNothing(async () => {
      const { socket, rest } = await beginUpload(3_000_000)
      await uploading()
      await platform.platform.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query ~ '^(copy report_chunks|copy report_lines)'`,
      )
      socket.write(rest)
      const answer = await readRaw(socket)
      socket.destroy()
      assert.equal(answer.status, 503, answer.text)
      assert.ok(answer.headers['retry-after'])
    }))

  test('a third upload of one partner waits until one of the two others ends', () =>
    leavesNothing(async () => {
      const [first, second] = [await beginUpload(3_000_000), await beginUpload(3_000_000)]
      await until('both run', async () => (await writing())?.waiting === 2)
      let ended = false
      const third = uploadBank(sides.alpha, campaign.id, 'x').finally(() => {
        ended = true
      })
      await sleep(300)
      assert.equal(ended, false)
      first.socket.destroy()
      assert.equal((await third).status, 400)
      second.socket.destroy()
      await nobodyUploads()
    }))

  test('401: a body that nobody reads does not keep its connection', async () => {
    const socket = await openRaw(platform.url)
    const headers = { 'content-type': cut, 'content-length': '5000000' }
    const ended = once(socket, 'close')
    socket.write(requestText('POST', path(), headers))
    const timer = setInterval(() => socket.write('x'), 300)
    const answer = await readRaw(socket)
    await Promise.race([ended, sleep(12_000, 'late').then(late => assert.fail(late))])
    clearInterval(timer)
    assert.equal(answer.status, 401)
  })

  test('400: a report that is not awaited is refused before the file is read, also to a client that sends first', async () => {
    const { alpha } = sides
    const done = await endedCampaign(sides, [alpha])
    assert.equal((await uploadBank(alpha, done.id, reportOf())).status, 201)
    const large = await uploadBank(alpha, done.id, 'x'.repeat(20_000_000))
    assertRefused(
      large,
      400,
      'No report of the bank is awaited: the reconciliation with the bank is at awaitingMerchantReconciliationConfirmation',
    )
  })
})

suite('uploads at once', () => {
  test('of two, one is taken and the other is refused', async () => {
    const round = async (lead: number) => {
      const { id } = await endedCampaign(sides, [sides.alpha])
      const upload = (tx: string) => uploadBank(sides.alpha, id, reportOf(line(campaign, tx)))
      const answers = await together(
        lead,
        () => upload('a'),
        () => upload('b'),
      )
      assert.deepEqual(tally(answers), { 201: 1, 400: 1 }, answers.map(({ text }) => text).join('\n'))
      const { reports } = await reconciliationOf(sides.alpha, id)
      assert.deepEqual(
        reports.map(({ reportId }: { reportId: string }) => reportId),
        answers.filter(({ status }) => status === 201).map(({ body }) => body.reportId),
      )
      return answers.findIndex(({ status }) => status === 201)
    }
    await race([0, 1], round, 5)
  })

  test('if the merchant accepts a report and answers it at once, one of the two is done', async () => {
    const round = async (lead: number) => {
      const { id } = await endedCampaign(sides, [sides.alpha])
      assert.equal((await uploadBank(sides.alpha, id, reportOf())).status, 201)
      const answers = await together(
        // Reading a report takes longer than accepting one, so the upload gets a longer lead.
        16 * lead,
        () => uploadMerchant(sides.grocer, id, reportOf()),
        () => sides.grocer.call('POST', `/portal/cashbacks/${id}/banks/${ids.alpha}/accept-report`),
      )
      const { bankReportingStatus, reports } = await reconciliationOf(sides.alpha, id)
      const [uploaded, accepted] = answers.map(({ status }) => status)
      if (bankReportingStatus === 'awaitingCompensationConfirmation') {
        assert.deepEqual([uploaded, accepted, reports.length], [400, 200, 1])
        return 'accepted'
      }
      assert.deepEqual([uploaded, accepted, reports.length], [201, 400, 2])
      return 'answered'
    }
    await race(['accepted', 'answered'], round, 5)
  })

  test('other moves of the campaign do not wait for an upload', async () => {
    const { alpha, beta, grocer } = sides
    const both = await endedCampaign(sides, [alpha, beta])
    assert.equal((await uploadBank(beta, both.id, reportOf())).status, 201)
    const { socket } = await beginUpload(3_000_000, both.id)
    await uploading()
    const move = await grocer.call('POST', `/portal/cashbacks/${both.id}/banks/${ids.beta}/accept-report`)
    assert.equal(move.status, 200, move.text)
    socket.destroy()
    await nobodyUploads()
  })
})

test('400: a report before the end of the period says why', async () => {
  const running = await runningCampaign(sides, [sides.alpha])
  const answer = await uploadBank(sides.alpha, running.id, reportOf())
  assertRefused(
    answer,
    400,
    'No report of the bank is awaited: the campaign’s period has not ended yet, and reports are exchanged after its end',
  )
  assert.deepEqual(answer.body.problems, [
    { line: null, column: null, rule: 'period-not-ended', params: {}, value: null },
  ])
})
