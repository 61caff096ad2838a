/** The settlement act: what both sides reported, what was accepted and what is owed, as data and as a PDF. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import { actPdf } from '../../src/reconciliation/act/pdf.ts'
import { readAct } from '../../src/reconciliation/act/read.ts'
import { assertRefused, campaignDirectory, ids, openMerchant, type Partner } from '../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import {
  type Ended,
  endedCampaign,
  header,
  line,
  merchantHeader,
  move,
  openSides,
  reportOf,
  runningCampaign,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../support/reconciliation.ts'
import { requireProgram } from '../support/require-program.ts'

let platform: TestPlatform
let sides: Sides
let campaign: Ended
let bankFile: string
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  const { alpha, beta, grocer } = sides
  campaign = await endedCampaign(sides, [alpha, beta], { name: 'Їжа та ґаджети' })
  bankFile = reportOf(line(campaign, 'a'), line(campaign, 'b', { cashback: '9.99' }))
  for (const bank of [alpha, beta])
    assert.equal((await uploadBank(bank, campaign.id, { file: bankFile, fileName: 'звіт.csv' })).status, 201)
  const own = [merchantHeader, `a,T-0001,${campaign.at},200`, `c,T-0001,${campaign.at},0.1`].join('\n')
  assert.equal((await uploadMerchant(grocer, campaign.id, own)).status, 201)
  assert.equal((await uploadBank(alpha, campaign.id, { file: bankFile, fileName: 'звіт.csv' })).status, 201)
  for (const step of ['accept-report', 'settle'])
    assert.equal((await move(grocer, `${campaign.id}/banks/${ids.alpha}/${step}`)).status, 200)
})
after(() => platform.close())

const read = (partner: Partner, query = '', id = campaign.id) =>
  partner.call('GET', `/portal/cashbacks/${id}/settlement-act${query}`)
const pdf = (partner: Partner, query = '') =>
  partner.call('GET', `/portal/cashbacks/${campaign.id}/settlement-act.pdf${query}`)

function textOf(bytes: Uint8Array): string {
  const { stdout, status, stderr } = spawnSync('pdftotext', ['-layout', '-', '-'], { input: bytes })
  assert.equal(status, 0, stderr.toString())
  return stdout.toString('utf8').replace(/[\u00a0\u202f]/g, ' ')
}

suite('as data', () => {
  test('totals, hashes, differences, dates, requisites; the merchant sees every bank', async () => {
    const { status, body, text } = await read(sides.grocer)
    assert.equal(status, 200, text)
    assert.deepEqual(
      [body.campaignName, body.currency, body.merchant.code, body.totalCompensation],
      ['Їжа та ґаджети', 'UAH', 'grocer', 12],
    )
    const [alpha, beta] = body.banks
    assert.deepEqual([alpha.code, beta.code], ['alpha', 'beta'])
    assert.equal(alpha.bankReport.sha256, createHash('sha256').update(bankFile).digest('hex'))
    assert.deepEqual(
      [
        alpha.bankReport.version,
        alpha.bankReport.totalAmount,
        alpha.bankReport.totalCashback,
        alpha.merchantReport.totalAmount,
      ],
      [2, 400, 19.99, 200.1],
    )
    assert.deepEqual([alpha.compensation, alpha.matched, alpha.differences.total], [6, 1, 4])
    assert.ok(alpha.acceptedAt && alpha.settledAt && alpha.receivedAt === null)
    assert.deepEqual([beta.merchantReport, beta.matched, beta.settledAt], [null, null, null])
  })

  test('a bank gets its own part alone', async () => {
    const { body } = await read(sides.beta)
    assert.deepEqual(
      body.banks.map(({ id }: { id: string }) => id),
      [ids.beta],
    )
    assert.equal(body.totalCompensation, 6)
    assertRefused(await read(sides.beta, `?bankId=${ids.alpha}`), 404)
    const one = await read(sides.grocer, `?bankId=${ids.alpha}`)
    assert.deepEqual([one.body.banks.length, one.body.totalCompensation], [1, 6])
  })

  test('a report from before hashes were kept gets its hash when it is first needed', async () => {
    await platform.platform.database.execute('update reports set sha256 = null')
    const { body } = await read(sides.alpha)
    assert.equal(body.banks[0].bankReport.sha256, createHash('sha256').update(bankFile).digest('hex'))
    const [row] = await platform.platform.database.query<{ count: number }>(
      'select count(*)::int as count from reports where sha256 is not null',
    )
    assert.equal(row?.count, 2)
  })

  test('refused: before the period’s end, another merchant, an unknown campaign, a wrong query', async () => {
    const running = await runningCampaign(sides, [sides.alpha])
    assertRefused(await read(sides.grocer, '', running.id), 400, /^There is no settlement act yet/)
    assertRefused(await read(await openMerchant(platform, 'voltshop')), 403)
    assertRefused(await read(sides.alpha, '', ids.alpha), 404)
    assertRefused(await read(sides.grocer, '?bank=x'), 400)
    assertRefused(await pdf(sides.grocer, '?language=fr'), 400)
    for (const zone of ['Mars/Base', 'BST'])
      assertRefused(await pdf(sides.grocer, `?timeZone=${zone}`), 400, [
        'timeZone must be an IANA time zone, like Europe/Kyiv',
      ])
  })
})

suite('as a PDF', () => {
  test('is drawn in a thread of its own: nobody else waits', async () => {
    const started: unknown[] = []
    const note = (worker: unknown) => started.push(worker)
    process.on('worker', note)
    const answers = await Promise.all([pdf(sides.grocer), pdf(sides.alpha)])
    process.off('worker', note)
    for (const { status, text } of answers) assert.equal(status, 200, text)
    assert.equal(started.length, 2)
  })

  test('українською: кирилиця, гривня, суми, геші', async t => {
    if (!requireProgram(t, 'pdftotext')) return
    const { status, headers, body } = await pdf(sides.grocer)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'application/pdf')
    assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="settlement-act-/)
    const text = textOf(body)
    for (const part of ['Акт звірки та розрахунку', 'Їжа та ґаджети', 'Гросер', 'Alpha Bank', 'Бета Банк', 'звіт.csv'])
      assert.ok(text.includes(part), `${part}\n${text}`)
    for (const part of ['400,00 ₴', '19,99 ₴', '200,10 ₴', '6,00 ₴', '12,00 ₴', 'Неправильний кешбек', 'Проєкт'])
      assert.ok(text.includes(part), `${part}\n${text}`)
    const hash = createHash('sha256').update(bankFile).digest('hex')
    assert.ok(text.replace(/\s/g, '').includes(hash.slice(0, 32)), text)
    assert.equal(text.match(/Акт звірки та розрахунку/g)?.length, 2, 'a page for each bank')
  })

  test('all times are in UTC and say so, whatever time zone a caller names', async t => {
    if (!requireProgram(t, 'pdftotext')) return
    const pages = await Promise.all(
      [
        [sides.grocer, 'Pacific/Auckland'],
        [sides.alpha, 'America/New_York'],
      ].map(async ([partner, timeZone]) => {
        const query = `?language=en&bankId=${ids.alpha}&timeZone=${timeZone}`
        return textOf((await pdf(partner as Partner, query)).body).replace(/^.*Generated.*$/m, '')
      }),
    )
    const [page = ''] = pages
    assert.equal(pages[0], pages[1])
    const { body } = await read(sides.alpha)
    const inUtc = new Date(body.dateFrom).toISOString().slice(11, 16)
    assert.match(page, new RegExp(`Period .* at ${inUtc} UTC – .* UTC`))
    assert.match(page, /Report accepted .* UTC/)
    assert.equal(page.match(/\d{2}:\d{2} UTC/g)?.length, page.match(/\d{2}:\d{2}/g)?.length)
  })

  test('the page of a bank is the same for merchant and bank; the sum of all banks has a sheet of its own', async t => {
    if (!requireProgram(t, 'pdftotext')) return
    const pagesOf = async (partner: Partner, query = '') =>
      textOf((await pdf(partner, `?language=en${query}`)).body)
        .replace(/Generated .* UTC · Perkline/g, 'Generated')
        .replace(/ +/g, ' ')
        .split('\f')
        .slice(0, -1)
    const { grocer, alpha, beta } = sides
    const all = await pagesOf(grocer)
    const own = [...(await pagesOf(alpha)), ...(await pagesOf(beta))]
    assert.deepEqual(all.slice(0, -1), own)
    assert.deepEqual([...(await pagesOf(grocer, `&bankId=${ids.alpha}`))], own.slice(0, 1))
    for (const page of own) assert.doesNotMatch(page, /all banks|12\.00/)
    const sum = all.at(-1) ?? ''
    assert.match(sum, /Compensation to all banks\s+₴12\.00/)
    assert.match(sum, /Banks included 2\nBanks without an amount yet 0\n/)
    assert.match(sum, new RegExp(`${campaign.id}[^]*Merchant Grocer`))
    assert.doesNotMatch(sum, /signature|No\. |alpha|beta|Draft/)
  })

  test('the sheet of the sum says how many amounts are still missing', async t => {
    if (!requireProgram(t, 'pdftotext')) return
    const { grocer, alpha, beta } = sides
    const own = await endedCampaign(sides, [alpha, beta])
    assert.equal((await uploadBank(alpha, own.id, reportOf(line(own, 'a')))).status, 201)
    const { body } = await grocer.call('GET', `/portal/cashbacks/${own.id}/settlement-act.pdf`)
    const sum = textOf(body).split('\f').at(-2) ?? ''
    assert.match(sum, /Компенсація всім банкам\s+6,00 ₴/)
    assert.match(sum, /Банків ураховано +1\n *Банків, суми яких ще немає +1\n/)
  })

  test('characters that the font lacks are visible', async t => {
    if (!requireProgram(t, 'pdftotext')) return
    const own = await endedCampaign(sides, [sides.alpha], { name: 'Fiesta 🎉 é' })
    const fileName = '👩🏽‍🔬 звіт ✓.csv'
    assert.equal((await uploadBank(sides.alpha, own.id, { file: reportOf(line(own, 'a')), fileName })).status, 201)
    const { body } = await sides.alpha.call('GET', `/portal/cashbacks/${own.id}/settlement-act.pdf`)
    const text = textOf(body)
    assert.match(text, /Fiesta □ é/)
    assert.match(text, /□ звіт ✓\.csv/)
  })

  test('in English, of one bank', async t => {
    if (!requireProgram(t, 'pdftotext')) return
    const { body } = await pdf(sides.alpha, '?language=en&timeZone=UTC')
    const text = textOf(body)
    assert.match(text, /Generated .* UTC/)
    for (const part of [
      'Settlement act',
      'Grocer',
      '₴400.00',
      '₴6.00',
      'Settlement confirmed',
      'Wrong cashback',
      'Page 1 of 1',
    ])
      assert.ok(text.includes(part), `${part}\n${text}`)
    assert.doesNotMatch(text, /Draft|Бета/)
  })

  test('amounts with 2 decimals in every currency, and percentages unrounded', async t => {
    if (!requireProgram(t, 'pdftotext')) return
    const currency = '{ code: JPY, name: Yen, symbol: ¥, icon: "" }'
    await platform.applyDirectory(
      `countries:\n  - { id: ${randomUUID()}, code: JP, name: Japan, currency: ${currency} }`,
    )
    const { id, at } = await endedCampaign(sides, [sides.alpha], {
      countryCode: 'JP',
      percentage: 5.123456789,
      merchantCompensationPercentage: 33.3333333,
    })
    const report = [header, `a,T-0001,${at},200.56,10.28`].join('\n')
    assert.equal((await uploadBank(sides.alpha, id, report)).status, 201)
    const { status, body } = await sides.alpha.call(
      'GET',
      `/portal/cashbacks/${id}/settlement-act.pdf?language=en&timeZone=UTC`,
    )
    assert.equal(status, 200)
    const text = textOf(body)
    for (const part of ['¥200.56', '¥10.28', '¥3.43', '5.123456789%', '33.3333333%'])
      assert.ok(text.includes(part), `${part}\n${text}`)
  })
})

test('the signatures are on the page of the compensation, and each page has the number of the act', async t => {
  if (!requireProgram(t, 'pdftotext')) return
  const caller = { type: 'merchant', merchantId: ids.grocer } as const
  const params = { caller, cashbackId: campaign.id, bankId: ids.alpha }
  const act = await readAct(
    { database: platform.platform.database, clock: platform.platform.deps.campaigns.clock },
    params as any,
  )
  const counts = new Set<number>()
  for (let domains = 0; domains < 12; domains++) {
    const merchant = { ...act.merchant, domain: Array.from({ length: domains }, () => `${'shop'.repeat(15)}.example`) }
    const pages = textOf(await buffer(actPdf({ ...act, merchant }, { language: 'en' })))
      .split('\f')
      .slice(0, -1)
    counts.add(pages.length)
    const signed = pages.filter(page => page.includes('Name, position, signature, date'))
    assert.equal(signed.length, 1)
    assert.match(signed[0] ?? '', /Compensation to the bank\s+₴6\.00/, `${domains} domains`)
    for (const page of pages) assert.ok(page.includes(`No. ${campaign.id.slice(0, 8)}-alpha`), page)
  }
  assert.deepEqual([...counts].slice(0, 2), [1, 2])
})
