/** PUT /portal/cashbacks/:id/segment: what is formed, what is refused, and how often (contract/campaigns.md, "Segments"). */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { readEntries } from '../../support/audit-log.ts'
import { launchCampaign, moveClock, openPartners, type Partners } from '../../support/campaign-moves.ts'
import {
  assertRefused,
  campaignDirectory,
  createCampaign,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { range } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { formOf } from '../../support/reconciliation.ts'
import { addCustomers, customers, fileOf, putSegment, segmentOf } from '../../support/segments.ts'

let platform: TestPlatform
let partners: Partners
let grocer: Partner
let alpha: Partner
let beta: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
  ;({ grocer, alpha, beta } = partners)
  await addCustomers(platform, 'alpha', customers('A', 50_000))
  await addCustomers(platform, 'beta', customers('B', 50_000))
  await addCustomers(platform, 'gamma', customers('G', 10))
})
after(() => platform.close())
afterEach(async () => {
  await platform.call('DELETE', '/sandbox/clock')
  await forgetUploads()
})

/** Deletes the counts of uploads, as if a new day had begun for the daily limit. */
const forgetUploads = () => platform.platform.database.execute('delete from segment_uploads')
const nothing = { malformed: { count: 0, lines: [] } }
const emptyForBoth = {
  customersCount: 0,
  banks: [
    { id: ids.alpha, customersCount: 0 },
    { id: ids.beta, customersCount: 0 },
  ],
  notTaken: nothing,
}

const forBoth = { participantsIds: [ids.alpha, ids.beta] }
const newCampaign = (overrides: Record<string, unknown> = forBoth) => createCampaign(platform, overrides, grocer)
const path = (id: string) => `/portal/cashbacks/${id}/segment`

async function formed(id: string, file: string | Uint8Array, fileName?: string) {
  const answer = await putSegment(grocer, id, file, fileName)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

suite('200', () => {
  test('each bank that takes part gets its own customers, in the order of the file, and nobody else’s', async () => {
    const id = await newCampaign()
    const body = await formed(id, fileOf(['A-2', 'B-1', 'nobody', 'A-1', 'G-1', 'A-3']), 'постійні.csv')
    assert.deepEqual(body, emptyForBoth)
    const { segmentId, formedAt, ...ofAlpha } = (await segmentOf(alpha, id)) ?? assert.fail()
    assert.deepEqual(ofAlpha, {
      cashbackId: id,
      customersCount: 3,
      customerIds: ['A-2', 'A-1', 'A-3'],
      sourceFileName: 'постійні.csv',
    })
    assert.match(segmentId, /^[0-9a-f-]{36}$/)
    assert.ok(Math.abs(Date.parse(formedAt) - Date.now()) < 60_000)
    const ofBeta = (await segmentOf(beta, id)) ?? assert.fail()
    assert.deepEqual(ofBeta.customerIds, ['B-1'])
    assert.notEqual(ofBeta.segmentId, segmentId)
    const details = await grocer.call('GET', `/cashbacks/for-merchant/${id}`)
    assert.equal(details.body.statistics.segmentCustomers, 0)
  })

  test('nobody learns from the answer who is a bank’s customer: it is the same with and without one', async () => {
    const id = await newCampaign()
    const many = customers('A', 1_234)
    const answers = []
    for (const probe of ['A-2000', 'nobody', 'G-1'])
      answers.push(await formed(id, fileOf([...many.slice(0, 1_231), probe])))
    assert.deepEqual(answers[0], {
      customersCount: 1_230,
      banks: [
        { id: ids.alpha, customersCount: 1_230 },
        { id: ids.beta, customersCount: 0 },
      ],
      notTaken: { malformed: { count: 0, lines: [] } },
    })
    for (const answer of answers) assert.deepEqual(answer, answers[0])
  })

  test('every number that the merchant reads is rounded for each bank, and a total is their sum; banks have exact ones', async () => {
    const id = await newCampaign()
    const body = await formed(id, fileOf([...customers('A', 29), ...customers('B', 39)]))
    const banks = [
      { id: ids.alpha, customersCount: 20 },
      { id: ids.beta, customersCount: 30 },
    ]
    assert.deepEqual([body.customersCount, body.banks], [50, banks])
    const read = await grocer.call('GET', path(id))
    const shown = read.body.banks.map(({ id, customersCount }: (typeof banks)[number]) => ({ id, customersCount }))
    assert.deepEqual([read.body.customersCount, shown], [50, banks])
    const details = await grocer.call('GET', `/cashbacks/for-merchant/${id}`)
    assert.equal(details.body.statistics.segmentCustomers, 50)
    const entries = await readEntries(platform, grocer.token, `&action=segment.formed&object=campaign:${id}`)
    assert.deepEqual(
      entries.map(({ change }) => change),
      [{ customersCount: [null, 50] }],
    )
    assert.equal((await alpha.call('GET', path(id))).body.customersCount, 29)
    assert.equal((await segmentOf(beta, id))?.customersCount, 39)
  })

  test('a bank that wants no segments gets none', async () => {
    const id = await newCampaign()
    await platform.platform.database.execute('update banks set segments = false where bank_id = $1', [ids.beta])
    try {
      const body = await formed(id, fileOf(['A-1', 'B-1']))
      assert.deepEqual(body.banks, [{ id: ids.alpha, customersCount: 0 }])
      assert.equal(await segmentOf(beta, id), null)
    } finally {
      await platform.platform.database.execute('update banks set segments = true')
    }
  })

  test('malformed lines do not enter; they are counted, and the first 100 are named by their numbers', async () => {
    const lines: (string | Buffer)[] = [
      'A-1',
      'A-1,A-2',
      'A"2',
      'x'.repeat(129),
      'x'.repeat(5_000),
      '""',
      '',
      'A-1 ',
      'A\0-1',
      'A\t1',
      'A-2',
    ]
    const id = await newCampaign()
    const latin1 = Buffer.from('A-\xff\n', 'latin1')
    const file = Buffer.concat([Buffer.from(`customerId\n${lines.map(line => `${line}\n`).join('')}`), latin1])
    const body = await formed(id, file)
    assert.deepEqual(body.notTaken, { malformed: { count: 10, lines: [3, 4, 5, 6, 7, 8, 9, 10, 11, 13] } })
    assert.deepEqual((await segmentOf(alpha, id))?.customerIds, ['A-1', 'A-2'])
    const many = await formed(id, fileOf(customers('secret', 3_000).map(line => `${line} `)))
    assert.deepEqual(many.notTaken, { malformed: { count: 3_000, lines: range(100).map(index => index + 2) } })
    assert.ok(!JSON.stringify(many).includes('secret'))
  })

  test('without a segment it is null; formed without a customer of a bank it is there and empty', async () => {
    const id = await newCampaign()
    assert.equal(await segmentOf(alpha, id), null)
    assert.deepEqual(await formed(id, fileOf(['A-1'])), emptyForBoth)
    const { customersCount, customerIds } = (await segmentOf(beta, id)) ?? assert.fail()
    assert.deepEqual([customersCount, customerIds], [0, []])
    assert.deepEqual(await formed(id, 'customerId\n'), emptyForBoth)
  })

  test('a byte-order mark, CRLF, quotes and no line end at the end are fine', async () => {
    const id = await newCampaign()
    for (const file of ['\ufeffcustomerId\r\nA-1\r\nA-2\r\n', '"customerId"\n"A-1"\nA-2']) {
      assert.deepEqual((await formed(id, file)).notTaken, nothing, JSON.stringify(file))
      assert.deepEqual((await segmentOf(alpha, id))?.customerIds, ['A-1', 'A-2'])
    }
  })

  test('ids of every script and with signs that formats use for themselves come through unchanged', async () => {
    const odd = [
      'клієнт-1',
      '客户',
      'a,b',
      'quo"te',
      'back\\slash\\N',
      '\\.',
      'emoji 👍',
      'x'.repeat(128),
      '👍'.repeat(128),
    ]
    await addCustomers(platform, 'alpha', odd.map(quoted))
    const id = await newCampaign()
    assert.deepEqual((await formed(id, fileOf(odd.map(quoted)))).notTaken, nothing)
    assert.deepEqual((await segmentOf(alpha, id))?.customerIds, odd)
  })

  test('a customer who is named twice counts once', async () => {
    const id = await newCampaign()
    await formed(id, fileOf(['A-1', 'who', 'A-1', 'B-1', 'who', 'A-1']))
    assert.deepEqual((await segmentOf(alpha, id))?.customerIds, ['A-1'])
    assert.deepEqual((await segmentOf(beta, id))?.customerIds, ['B-1'])
  })

  test('a new upload replaces the one before whole', async () => {
    const id = await newCampaign()
    await formed(id, fileOf(['A-1', 'B-1']))
    const first = await segmentOf(alpha, id)
    await formed(id, fileOf(['A-2']), 'newer.csv')
    const second = await segmentOf(alpha, id)
    assert.deepEqual(second?.customerIds, ['A-2'])
    assert.equal(second?.sourceFileName, 'newer.csv')
    assert.notEqual(second?.segmentId, first?.segmentId)
    assert.deepEqual((await segmentOf(beta, id))?.customerIds, [])
  })

  test('a bank that has declined gets no part; one that is invited later has none until it is formed anew', async () => {
    const id = await newCampaign()
    await beta.call('POST', `/cashbacks/${id}/reject`)
    const body = await formed(id, fileOf(['A-1', 'B-1', 'G-1']))
    assert.deepEqual(body.banks, [{ id: ids.alpha, customersCount: 0 }])
    assert.equal(await segmentOf(beta, id), null)
    const participantsIds = [ids.alpha, ids.beta, ids.gamma]
    const edited = await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body: { participantsIds } })
    assert.equal(edited.status, 200, edited.text)
    const gamma = await openCampaignBank(platform, 'gamma')
    assert.equal(await segmentOf(gamma, id), null)
    await formed(id, fileOf(['A-1', 'G-1']))
    assert.deepEqual((await segmentOf(gamma, id))?.customerIds, ['G-1'])
  })

  test('the campaign has a new version and the banks a new list; the history tells each bank’s count', async () => {
    const id = await newCampaign()
    const details = () => grocer.call('GET', `/cashbacks/for-merchant/${id}`)
    const history = () => grocer.call('GET', `/portal/cashbacks/${id}/history`)
    const tags = () =>
      Promise.all([alpha, beta].map(async bank => (await bank.call('GET', '/cashbacks/for-bank')).headers.get('etag')))
    const before = [await details(), await history(), await tags()] as const
    await formed(id, fileOf(['A-1']))
    const after = [await details(), await history(), await tags()] as const
    assert.notEqual(after[0].headers.get('etag'), before[0].headers.get('etag'))
    assert.ok(after[0].body.updatedAt > before[0].body.updatedAt)
    const added = (entries: { body: { bankId: string; changes: unknown }[] }, known: number) =>
      entries.body.slice(known).map(({ bankId, changes }) => [bankId, changes])
    assert.deepEqual(added(after[1], before[1].body.length), [
      [ids.alpha, { customersCount: [null, 0] }],
      [ids.beta, { customersCount: [null, 0] }],
    ])
    const toAlpha = await alpha.call('GET', `/portal/cashbacks/${id}/history`)
    assert.deepEqual(added(toAlpha, 2), [[ids.alpha, { customersCount: [null, 1] }]], 'exact, and its own only')
    for (const [index, tag] of after[2].entries()) assert.notEqual(tag, before[2][index])
  })

  test('while the campaign is approved or active', async () => {
    const id = await launchCampaign(platform, partners)
    assert.equal((await formed(id, fileOf(customers('A', 20)))).customersCount, 20)
    await moveClock(platform, { advance: 'P11D' })
    assert.equal((await formed(id, fileOf(customers('A', 30)))).customersCount, 30)
  })

  test('a campaign that a bank has created: its merchant forms the segment', async () => {
    const { body: own } = await grocer.call('GET', `/cashbacks/for-merchant/${await newCampaign()}`)
    const form = {
      name: 'Alpha',
      dateFrom: own.dateFrom,
      dateTo: own.dateTo,
      minAmount: 1,
      maxAmount: 2,
      percentage: 5,
    }
    const terms = { countryCode: 'UA', terminalsPlatform: true, paymentSystemsId: [ids.visa] }
    const body = { ...form, ...terms, merchantCompensationPercentage: 10, retailerId: ids.grocer }
    const created = await alpha.call('POST', '/portal/cashbacks', { body })
    assert.equal(created.status, 201, created.text)
    assert.deepEqual((await formed(created.body.id, fileOf([...customers('A', 20), 'B-1']))).banks, [
      { id: ids.alpha, customersCount: 20 },
    ])
  })

  test('100,000 customers', async () => {
    const id = await newCampaign()
    const [ofAlpha, ofBeta] = [customers('A', 50_000), customers('B', 50_000)]
    const mixed = ofAlpha.flatMap((customer, index) => [customer, ofBeta[index] ?? ''])
    assert.equal((await formed(id, fileOf(mixed))).customersCount, 100_000)
    assert.deepEqual((await segmentOf(alpha, id))?.customerIds, ofAlpha)
    assert.deepEqual((await segmentOf(beta, id))?.customerIds, ofBeta)
  })
})

const quoted = (id: string): string => (/[",]/.test(id) ? `"${id.replaceAll('"', '""')}"` : id)

suite('400', () => {
  const noHeader = ['line 1 must be the header customerId']
  const noUtf8 = ['line 1 must be UTF-8 text: save the file as CSV in UTF-8']
  const refusals: [string, string | Uint8Array, string[] | RegExp][] = [
    ['an empty file', '', ['file must not be empty: line 1 must be the header customerId']],
    ['no header', 'A-1\nA-2\n', noHeader],
    ['another header', 'customer_id\nA-1\n', noHeader],
    ['two columns', 'customerId,name\nA-1,x\n', noHeader],
    ['UTF-16', Buffer.from('\ufeffcustomerId\r\nA-1\r\n', 'utf16le'), noUtf8],
    ['UTF-16 without a byte-order mark', Buffer.from('customerId\nA-1\n', 'utf16le'), noUtf8],
    ['a workbook', Buffer.from('PK\u0003\u0004customerId\nA-1\n'), noUtf8],
  ]
  for (const [what, file, message] of refusals)
    test(`${what}: the file is refused whole, and the segment stays`, async () => {
      const id = await newCampaign()
      await formed(id, fileOf(['A-9']))
      const answer = await putSegment(grocer, id, file)
      assertRefused(answer, 400, message)
      assert.deepEqual(answer.body.problems, [
        file === ''
          ? { line: null, column: null, rule: 'not-empty', params: {}, value: null }
          : message === noUtf8
            ? { line: 1, column: null, rule: 'utf8', params: {}, value: null }
            : { line: 1, column: null, rule: 'header', params: { columns: 'customerId' }, value: null },
      ])
      assert.deepEqual((await segmentOf(alpha, id))?.customerIds, ['A-9'])
    })

  for (const [what, line] of [
    ['lines', 'A-1\n'],
    ['blank lines', '\n'],
  ] as const)
    test(`more than 1,000,000 ${what}`, async () => {
      const id = await newCampaign()
      const answer = await putSegment(grocer, id, `customerId\n${line.repeat(1_000_001)}`)
      assertRefused(answer, 400, ['file must have at most 1000000 lines below its header'])
    })

  test('no file, another field, an id that is no UUID, a query', async () => {
    const id = await newCampaign()
    assertRefused(await grocer.call('PUT', path(id), await formOf({ file: fileOf([]), comment: 'x' })), 400, [
      'comment must be omitted',
    ])
    const form = await new Response(new FormData()).arrayBuffer()
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    assertRefused(await grocer.call('PUT', path(id), { raw: new Uint8Array(form), headers }), 400)
    assertRefused(await putSegment(grocer, '1', fileOf([])), 400, ['cashbackId must be a UUID'])
    assertRefused(await grocer.call('PUT', `${path(id)}?a=1`, await formOf({ file: fileOf([]) })), 400, [
      'a must be omitted',
    ])
  })

  test('the period has ended, the campaign is deleted, declined or expired', async () => {
    const deleted = await newCampaign()
    await grocer.call('DELETE', `/cashbacks/for-merchant/${deleted}`)
    assertRefused(await putSegment(grocer, deleted, fileOf(['A-1'])), 400, /deleted/)
    const [ended, expired] = [await launchCampaign(platform, partners), await newCampaign()]
    await moveClock(platform, { advance: 'P41D' })
    assertRefused(await putSegment(grocer, ended, fileOf(['A-1'])), 400, /awaitingCompensationConfirmation/)
    assertRefused(await putSegment(grocer, expired, fileOf(['A-1'])), 400, /expired/)
  })
})

suite('who may', () => {
  test('401 without a token, 403 for banks, viewers and other merchants, 404 for an unknown campaign', async () => {
    const id = await newCampaign()
    const form = await formOf({ file: fileOf(['A-1']) })
    assertRefused(await platform.call('PUT', path(id), form), 401)
    assertRefused(await alpha.call('PUT', path(id), form), 403)
    assertRefused(await putSegment(await openMerchant(platform, 'voltshop'), id, fileOf(['A-1'])), 403)
    assertRefused(await putSegment(grocer, ids.visa, fileOf(['A-1'])), 404)
    assertRefused(await grocer.call('PUT', path(id), { body: {} }), 415)
    assert.equal(await segmentOf(alpha, id), null)
  })
})

suite('how often', () => {
  const count = (id: string, uploads: number, day = `(now() at time zone 'UTC')::date`) =>
    platform.platform.database.execute(
      `insert into segment_uploads (merchant_id, day, cashback_id, uploads) values ($1, ${day}, $2, $3)
       on conflict (merchant_id, day, cashback_id) do update set uploads = excluded.uploads`,
      [ids.grocer, id, uploads],
    )

  test('of a campaign 20 a day; a refused file does not count, and yesterday’s neither', async () => {
    const [id, other] = [await newCampaign(), await newCampaign()]
    await count(id, 18)
    await count(id, 20, `(now() at time zone 'UTC')::date - 1`)
    assertRefused(await putSegment(grocer, id, 'no header'), 400)
    const answers = await Promise.all(range(5).map(() => putSegment(grocer, id, fileOf(['A-1']))))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 429, 429, 429])
    const refused = await putSegment(grocer, id, fileOf(['A-2']))
    assertRefused(refused, 429, /20 times a day/)
    const seconds = Number(refused.headers.get('retry-after'))
    assert.ok(seconds > 0 && seconds <= 86_400, `${seconds}`)
    assert.deepEqual((await segmentOf(alpha, id))?.customerIds, ['A-1'])
    await formed(other, fileOf(['A-1']))
  })

  test('of a merchant 100 a day', async () => {
    const [id, another] = [await newCampaign(), await newCampaign()]
    for (let index = 0; index < 9; index++) await count(await newCampaign(), 11)
    await formed(id, fileOf(['A-1']))
    assertRefused(await putSegment(grocer, another, fileOf(['A-1'])), 429, /100 times a day/)
  })
})
