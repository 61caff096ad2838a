/**
 * Reports in a real browser. A person sees what a file contains before it is sent. A cancelled upload stores nothing. The
 * page can show every difference.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeBrowser, phone, type Visitor, visit } from '../support/browser.ts'
import { campaignDirectory, ids } from '../support/campaigns.ts'
import { until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import {
  type Ended,
  endedCampaign,
  header,
  line,
  merchantHeader,
  move,
  openSides,
  reconciliationOf,
  reportOf,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let bank: Account
let merchant: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  bank = await addAccount(platform, { bank: 'alpha' }, 'EDITOR')
  merchant = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: 'text/csv',
  buffer: typeof content === 'string' ? Buffer.from(content) : content,
})
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
const sees = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()
const dialogButton = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
const atBank = ({ id }: Pick<Ended, 'id'>) => `/bank/campaigns/${id}/reconciliation`
const atMerchant = ({ id }: Pick<Ended, 'id'>) => `/merchant/campaigns/${id}/banks/${ids.alpha}`

/** The state from the API, and the number of reports. */
async function told({ id }: Ended) {
  const { bankReportingStatus, reports } = await reconciliationOf(sides.alpha, id)
  return [bankReportingStatus, reports.length]
}

const idle = (what: string) =>
  until(what, async () => {
    const [row] = await platform.platform.database.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       and xact_start is not null and query ~ '(report|checked|campaign_terminals)'`,
    )
    return row?.count === 0
  })

suite('a bank’s report', { timeout: 120_000 }, () => {
  test('of 200,000 lines is checked, summed up and not sent; cancelled, left, and then sent', async t => {
    const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Large' })
    const lines = Array.from({ length: 200_000 }, (_, index) =>
      line(campaign, `tx-${index}`, index < 3 ? { cashback: '9' } : {}),
    )
    const large = file('large.csv', [header, ...lines].join('\n'))
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, errors } = visitor
    await visitor.logIn(bank, atBank(campaign))
    const choose = page.locator('input[type=file]')

    await choose.setInputFiles(large)
    await sees(page, 'Checking the file')
    await button(page, 'Cancel').click()
    await sees(page, 'The upload was cancelled. Nothing was changed.')
    await idle('the cancelled trial is over')
    assert.deepEqual(await told(campaign), ['awaitingBankReconciliation', 0])

    await choose.setInputFiles(large)
    const checked = page.getByRole('region', { name: 'Check before you send' })
    await checked.waitFor({ timeout: 60_000 })
    assert.deepEqual(await checked.locator('dd').allInnerTexts(), ['200,000', '₴40,000,000.00', '₴1,999,997.00', '3'])
    await checked.getByText('Wrong cashback: 3').waitFor()
    await sees(page, /Grocer gets the file and this result/)
    await assertAccessible(visitor)
    assert.deepEqual(await told(campaign), ['awaitingBankReconciliation', 0], 'choosing sends nothing')

    await button(page, 'Send to Grocer').click()
    await sees(page, 'The file has arrived and is being processed. It can no longer be cancelled.')
    assert.equal(await button(page, 'Cancel').count(), 0)
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click()
    await sees(page, 'Leave while the file is being uploaded?')
    await dialogButton(page, 'Cancel').click()
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click()
    await dialogButton(page, 'Leave the page').click()
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor()
    await idle('the upload that was left is over')
    assert.deepEqual(await told(campaign), ['awaitingBankReconciliation', 0], 'what was left is not kept')
    await visitor.walk(atBank(campaign))
    await sees(page, /^The upload of large\.csv was interrupted/)
    await assertAccessible(visitor)
    await button(page, 'Choose another file').click()

    await choose.setInputFiles(file('small.csv', reportOf(line(campaign, 'a'))))
    await button(page, 'Send to Grocer').click()
    await sees(page, 'The report was sent to Grocer')
    assert.deepEqual(await told(campaign), ['awaitingMerchantReconciliationConfirmation', 1])
    errors.splice(0)
  })

  test('by the template is accepted; українською названо кожен хибний рядок', async t => {
    const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Template' })
    const visitor = await visit(t, platform, { language: 'uk-UA', viewport: phone })
    if (!visitor) return
    const { page, errors } = visitor
    await visitor.logIn(bank, atBank(campaign))
    await button(page, 'Що має бути в кожному стовпці').click()
    await sees(page, /Кешбек, виплачений клієнтові/)
    await assertAccessible(visitor)
    const [template] = await Promise.all([page.waitForEvent('download'), button(page, 'Завантажити шаблон').click()])
    const text = await readFile(await template.path(), 'utf8')
    assert.match(text, /^transactionId,terminalId,transactionAt,amount,cashbackAmount\r\n/)
    const choose = page.locator('input[type=file]')
    await choose.setInputFiles(file('template.csv', text))
    await page.getByRole('region', { name: 'Перевірте перед надсиланням' }).waitFor()
    await button(page, 'Вибрати інший файл').click()

    const wrong = ['x', `a,T,yesterday,"12,5",-1`, `b,T,${campaign.at},1,1`]
    await choose.setInputFiles(file('wrong.csv', [header, ...wrong].join('\n')))
    const faults = page.getByRole('alert').filter({ hasText: 'Файл не прийнято' })
    await faults.waitFor()
    assert.deepEqual(await faults.getByRole('listitem').allInnerTexts(), [
      'Рядок 2: має бути значень: 5, є: 1',
      'Рядок 3, transactionAt: має бути дата й час із часовим поясом, наприклад 2026-12-05T14:30:00+02:00 (yesterday)',
      'Рядок 3, amount: має бути число з крапкою і щонайбільше 2 знаками після неї, без пробілів і ком, наприклад 1250.00 (12,5)',
      'Рядок 3, cashbackAmount: має бути 0 або більше (-1)',
    ])
    assert.match(errors.splice(0).join(), /400/)
    await assertFits(page)
  })
})

test('the shares of a cost: to the cent, the merchant’s as on the rest of the page, and no cent too much', {
  timeout: 60_000,
}, async t => {
  const terms = { merchantCompensationPercentage: 50, maxBudget: 20.01 }
  const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Odd cents', ...terms })
  const odd = line(campaign, 'odd', { amount: '140.20', cashback: '7.01' })
  const wrong = line(campaign, 'wrong', { cashback: '9.00' })
  assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(odd, wrong))).status, 201)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(merchant, atMerchant(campaign))
  // Half of 7.01, rounded half up. The line with the wrong cashback is not compensated.
  await page.getByText('₴3.51').first().waitFor()
  const chart = page.getByRole('region', { name: 'Planned and actual cost' })
  await chart.getByRole('button').click()
  assert.deepEqual(await chart.locator('tbody td').allInnerTexts(), ['₴10.01', '₴10.00', '₴3.51', '₴12.50'])
})

test('no chart of a cost without a budget before a report', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const chart = page.getByRole('region', { name: 'Planned and actual cost' })
  for (const [maxBudget, count] of [
    [null, 0],
    [500, 1],
  ] as const) {
    const campaign = await endedCampaign(sides, [sides.alpha], { name: `Budget ${maxBudget}`, maxBudget })
    await visitor.logIn(bank, atBank(campaign))
    await sees(page, 'Compared after the merchant’s report')
    assert.equal(await chart.count(), count)
  }
})

suite('a file that a spreadsheet has saved in another form', { timeout: 60_000 }, () => {
  const places = 'the first line must name the columns transactionId,terminalId,transactionAt,amount,cashbackAmount'
  test('is refused by its name, and says how to save it', async t => {
    const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Spreadsheet' })
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, errors } = visitor
    await visitor.logIn(bank, atBank(campaign))
    const whole = reportOf(line(campaign, 'a'))
    const start = `a,T-0001,${campaign.at}`
    const tabs = whole.replaceAll(',', '\t')
    const cases: [string, string | Buffer, string][] = [
      [
        'unicode.csv',
        Buffer.from(`\ufeff${tabs}`, 'utf16le'),
        'Line 1: save the file in UTF-8 (in Excel as “CSV UTF-8”)',
      ],
      [
        'tabs.csv',
        tabs,
        `Line 1: ${places}. Separate the columns with commas, not with semicolons or tabs (${header.replaceAll(',', '?')})`,
      ],
      [
        'decimal-commas.csv',
        `${header}\n${start},1250,00,62,50\n`,
        'Line 2: 5 values expected, 7 found. A comma begins a new value, so write amounts with a point: 1250.00',
      ],
      [
        'thousands.csv',
        `${header}\n${start},"1,250.00",62.50\n`,
        'Line 2, amount: must be a number with a point and at most 2 decimals, without spaces or commas, for example 1250.00 (1,250.00)',
      ],
    ]
    for (const [name, content, text] of cases) {
      await page.locator('input[type=file]').setInputFiles(file(name, content))
      const refusal = page.getByRole('alert').filter({ hasText: name })
      await refusal.waitFor()
      assert.deepEqual(await refusal.getByRole('listitem').allInnerTexts(), [text])
    }
    assert.match(errors.splice(0).join(), /400/)
  })
})

/** Asserts that nothing on the page is cut off at the side. */
async function assertFits(page: Page): Promise<void> {
  const [width, shown] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]')
  assert.ok((width ?? 0) <= (shown ?? 0), `the page is ${width} px wide of ${shown}`)
}

suite('an own report that is not sent yet', { timeout: 120_000 }, () => {
  test('is there again after a reload: the bank’s file, the merchant’s file and comment', async t => {
    const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Reloaded' })
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    const choose = page.locator('input[type=file]')
    const checked = page.getByRole('region', { name: 'Check before you send' })
    await visitor.logIn(bank, atBank(campaign))
    await choose.setInputFiles(file('ours.csv', reportOf(line(campaign, 'a'))))
    await checked.getByText('ours.csv').waitFor()
    await page.reload()
    await checked.getByText('ours.csv').waitFor()
    await button(page, 'Choose another file').click()
    await choose.waitFor({ state: 'attached' })
    await page.reload()
    await choose.waitFor({ state: 'attached' })
    assert.equal(await checked.count(), 0, 'a file that was put aside stays away')
    await choose.setInputFiles(file('ours.csv', reportOf(line(campaign, 'a'))))
    await button(page, 'Send to Grocer').click()
    await sees(page, 'The report was sent to Grocer')

    await visitor.empty()
    await visitor.logIn(merchant, atMerchant(campaign))
    await button(page, 'Answer with your own report').click()
    await page.getByRole('textbox', { name: 'Comment for the bank' }).fill('t'.repeat(1003))
    await sees(page, /3 characters too many\.$/)
    assert.equal(await choose.isDisabled(), true)
    await page.getByRole('textbox', { name: 'Comment for the bank' }).fill('One receipt is missing')
    await choose.setInputFiles(file('theirs.csv', reportOf(line(campaign, 'b'))))
    await checked.getByText('theirs.csv').waitFor()
    await page.reload()
    await checked.getByText('theirs.csv').waitFor()
    assert.equal(
      await page.getByRole('textbox', { name: 'Comment for the bank' }).inputValue(),
      'One receipt is missing',
    )
    await assertAccessible(visitor)
    await button(page, 'Send to Alpha Bank').click()
    await sees(page, 'The report was sent to Alpha Bank')
    const [part] = [await reconciliationOf(sides.alpha, campaign.id)]
    assert.equal(part.reports.at(-1)?.comment, 'One receipt is missing')
  })
})

test('a file that comes too late: both sides are told that it was not sent', { timeout: 60_000 }, async t => {
  const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Too late' })
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  const notSent = page.getByRole('alert').getByText('Your file was not sent: somebody has sent a report')
  await visitor.logIn(bank, atBank(campaign))
  await page.locator('input[type=file]').setInputFiles(file('ours.csv', reportOf(line(campaign, 'a'))))
  await button(page, 'Send to Grocer').waitFor()
  assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(line(campaign, 'b')))).status, 201)
  await button(page, 'Send to Grocer').click()
  await notSent.waitFor()
  await sees(page, 'Waiting for the merchant to review your report.')
  assert.ok(await notSent.isVisible())
  assert.match(errors.splice(0).join(), /400/)
  await assertAccessible(visitor)

  await visitor.empty()
  await visitor.logIn(merchant, atMerchant(campaign))
  await button(page, 'Answer with your own report').click()
  await page.locator('input[type=file]').setInputFiles(file('theirs.csv', reportOf(line(campaign, 'b'))))
  await button(page, 'Send to Alpha Bank').waitFor()
  assert.equal((await move(sides.grocer, `${campaign.id}/banks/${ids.alpha}/accept-report`)).status, 200)
  await button(page, 'Send to Alpha Bank').click()
  await notSent.waitFor()
  await sees(page, 'Action needed: the reports are reconciled.')
  assert.ok(await notSent.isVisible())
  assert.match(errors.splice(0).join(), /400/)
  assert.equal((await told(campaign))[1], 1)
})

test('a checked report that meets a busy platform is sent again with one press', { timeout: 60_000 }, async t => {
  const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Busy' })
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  await visitor.logIn(bank, atBank(campaign))
  await page.locator('input[type=file]').setInputFiles(file('ours.csv', reportOf(line(campaign, 'a'))))
  await button(page, 'Send to Grocer').waitFor()
  await page.route(/bank-report$/, route => route.fulfill({ status: 503, json: { message: 'busy' } }), { times: 1 })
  await button(page, 'Send to Grocer').click()
  await page.getByRole('alert').getByText('Perkline is busy').waitFor()
  await assertAccessible(visitor)
  assert.match(errors.splice(0).join(), /503/)
  await button(page, 'Send to Grocer').click()
  await sees(page, 'The report was sent to Grocer')
  assert.equal((await told(campaign))[1], 1)
})

suite('differences', { timeout: 120_000 }, () => {
  let campaign: Ended
  before(async () => {
    campaign = await endedCampaign(sides, [sides.alpha], { name: 'Many differences' })
    const odd = [
      line(campaign, 'late', { at: campaign.dateTo }),
      line(campaign, 'large', { amount: '20000.01', cashback: '1000.00' }),
      line(campaign, 'twice'),
      line(campaign, 'twice'),
    ]
    const many = Array.from({ length: 2_000 }, (_, index) => line(campaign, `tx-${index}`, { cashback: '9.99' }))
    assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(...many, ...odd))).status, 201)
  })

  const rows = (page: Page) => page.getByRole('table', { name: 'Differences' }).getByRole('row')

  for (const [name, viewport] of [
    ['1440', { width: 1440, height: 900 }],
    ['390', phone],
  ] as const)
    test(`are found beyond the first thousand, in people’s words, with every column in reach at ${name} px`, async t => {
      const visitor = await visit(t, platform, { viewport })
      if (!visitor) return
      const { page } = visitor
      await visitor.logIn(merchant, atMerchant(campaign))
      const search = page.getByRole('searchbox', { name: 'Find a transaction' })
      await search.fill('TX-1999')
      await sees(page, 'tx-1999')
      await search.fill('')
      await page.getByRole('combobox', { name: 'Kind' }).selectOption('wrong-cashback')
      await sees(page, '2,000 entries')
      await page.getByRole('combobox', { name: 'Kind' }).selectOption('')
      for (const [id, text] of [
        ['late', /20\d\d/],
        ['large', /₴100\.00 – ₴5,000\.00/],
        ['twice', /same as line 2004/],
      ] as const) {
        await search.fill(id)
        await rows(page).filter({ hasText: id }).filter({ hasText: text }).first().waitFor()
        await until('one kind is left', () => page.evaluate(`document.querySelectorAll('[data-kind]').length === 1`))
        const shown = await page.getByRole('table', { name: 'Differences' }).innerText()
        assert.doesNotMatch(shown, /\d{4}-\d\d-\d\dT|\.\.|\bline \d+$/)
      }
      await assertFits(page)
      await assertAccessible(visitor)
      const card = await page.evaluate<number>(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('table[aria-label=Differences]').parentElement)`,
      )
      assert.ok(card <= 0, `${card} px of the table are out of sight`)
    })
})

test('the longest kind of a difference fits on a narrow phone', { timeout: 120_000 }, async t => {
  const narrow = await endedCampaign(sides, [sides.alpha], { name: 'Narrow' })
  assert.equal((await uploadBank(sides.alpha, narrow.id, reportOf(line(narrow, 'a')))).status, 201)
  const answer = await uploadMerchant(sides.grocer, narrow.id, reportOf(line(narrow, 'b')))
  assert.equal(answer.status, 201, answer.text)
  const visitor = await visit(t, platform, { viewport: { width: 360, height: 740 } })
  if (!visitor) return
  await visitor.logIn(merchant, atMerchant(narrow))
  await visitor.page.locator('[data-kind=only-in-merchant-report]').waitFor()
  await assertFits(visitor.page)
})

test('a difference is not hidden in a minute or a space, a comment is whole, on the narrowest phone too', {
  timeout: 60_000,
}, async t => {
  const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Щ'.repeat(27) })
  const before = new Date(Date.parse(campaign.dateFrom) - 1).toISOString()
  const lines = [
    line(campaign, 'early', { at: before }),
    line(campaign, 'end', { at: campaign.dateTo }),
    line(campaign, 'paid'),
    line(campaign, 'terminal', { terminalId: 'T-0001 ' }),
  ]
  assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(...lines))).status, 201)
  const comment = `First\nhttps://example.com/${'receipts'.repeat(20)}`
  const answer = await uploadMerchant(sides.grocer, campaign.id, { file: reportOf(line(campaign, 'paid')), comment })
  assert.equal(answer.status, 201, answer.text)
  const visitor = await visit(t, platform, { viewport: { width: 320, height: 640 } })
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(bank, atBank(campaign))
  const found = (id: string, kind: string) =>
    page
      .getByRole('table', { name: 'Differences' })
      .getByRole('row')
      .filter({ hasText: id })
      .filter({ has: page.locator(`[data-kind=${kind}]`) })
  await found('early', 'outside-period').getByText('before its beginning').waitFor()
  await found('end', 'outside-period').getByText('at its end or later').waitFor()
  await found('terminal', 'unknown-terminal').getByText('“T-0001 ”').waitFor()
  const shown = page.getByText(/^“First/)
  assert.match(await shown.innerText(), /^“First\nhttps/)
  assert.equal(
    await shown.evaluate((each: { scrollWidth: number; clientWidth: number }) => each.scrollWidth - each.clientWidth),
    0,
  )
  await assertFits(page)
  await assertAccessible(visitor)
})

suite('the next step', { timeout: 120_000 }, () => {
  test('is a button on each page, and names the money', async t => {
    const campaign = await endedCampaign(sides, [sides.alpha, sides.beta], { name: 'Two banks' })
    for (const side of [sides.alpha, sides.beta])
      assert.equal((await uploadBank(side, campaign.id, reportOf(line(campaign, 'a')))).status, 201)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(merchant, `/merchant/campaigns/${campaign.id}`)
    await page.getByRole('link', { name: 'Review the report of Alpha Bank' }).click()
    await button(page, 'Accept the report').click()
    await sees(page, /There are no differences\. Your compensation to this bank is then ₴6\.00\./)
    await dialogButton(page, 'Accept the report').click()
    await sees(page, 'The report is accepted')
    assert.equal((await move(sides.grocer, `${campaign.id}/banks/${ids.beta}/accept-report`)).status, 200)
    await visitor.open(`/merchant/campaigns/${campaign.id}`)
    await page.getByRole('link', { name: 'Settle with Alpha Bank' }).click()
    await button(page, 'Confirm settlement').waitFor()
    const { width } = (await button(page, 'Confirm settlement').boundingBox()) ?? assert.fail()
    assert.ok(width < 400, `the button is ${width} px wide`)
    for (const bankId of [ids.alpha, ids.beta])
      assert.equal((await move(sides.grocer, `${campaign.id}/banks/${bankId}/settle`)).status, 200)
    await visitor.open(`/merchant/campaigns/${campaign.id}`)
    await button(page, 'Mark as paid').click()
    const amounts = page.getByRole('dialog').getByRole('table', { name: 'Amounts by bank' })
    assert.deepEqual(
      (await amounts.getByRole('row').allInnerTexts()).map(row => row.split(/\s*\t\s*/)),
      [
        ['Alpha Bank', '₴6.00'],
        ['Бета Банк', '₴6.00'],
        ['Total', '₴12.00'],
      ],
    )
    await assertAccessible(visitor)
  })
})

test('a report that the bank’s system uploaded is shown so, and not by its client id', { timeout: 60_000 }, async t => {
  const campaign = await endedCampaign(sides, [sides.alpha], { name: 'By the system' })
  assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(line(campaign, 'a')))).status, 201)
  const visitor = await visit(t, platform)
  if (!visitor) return
  await visitor.logIn(bank, atBank(campaign))
  const cell = visitor.page.getByRole('row', { name: 'report.csv' }).getByText(/by your system|pk_/)
  assert.equal(await cell.innerText(), 'by your system')
})

test('a printed page is without the portal’s frame', { timeout: 60_000 }, async t => {
  const campaign = await endedCampaign(sides, [sides.alpha], { name: 'On paper' })
  assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(line(campaign, 'a')))).status, 201)
  assert.equal(
    (await uploadMerchant(sides.grocer, campaign.id, `${merchantHeader}\na,T-0001,${campaign.at},200`)).status,
    201,
  )
  const visitor: Visitor | null = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(bank, atBank(campaign))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('navigation').waitFor()
  await page.emulateMedia({ media: 'print' })
  assert.equal(await page.getByRole('navigation').isVisible(), false)
  assert.equal(await page.getByRole('banner').isVisible(), false)
  assert.equal(await page.getByRole('heading', { level: 1 }).isVisible(), true)
  await page.emulateMedia({ media: null })
})

test('the settlement act is read, printed without buttons and downloaded, by both sides', {
  timeout: 60_000,
}, async t => {
  const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Act' })
  assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(line(campaign, 'a')))).status, 201)
  for (const step of ['accept-report', 'settle'])
    assert.equal((await move(sides.grocer, `${campaign.id}/banks/${ids.alpha}/${step}`)).status, 200)
  for (const [account, path] of [
    [merchant, atMerchant(campaign)],
    [bank, atBank(campaign)],
  ] as const) {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(account, path)
    await page.getByRole('link', { name: 'Settlement act' }).click()
    await page.getByRole('heading', { name: 'Settlement act', level: 1 }).waitFor()
    const article = page.getByRole('article', { name: 'Alpha Bank' })
    await article.getByText('₴6.00').waitFor()
    await article.getByText(/^[0-9a-f]{64}$/).waitFor()
    const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' })
    await article.getByText(`${format.format(new Date(campaign.dateFrom))} UTC`).waitFor()
    for (const time of await article.locator('time').all()) assert.match(await time.innerText(), / UTC$/)
    await assertAccessible(visitor)
    const [saved] = await Promise.all([page.waitForEvent('download'), button(page, 'Download as PDF').click()])
    assert.match(saved.suggestedFilename(), /^settlement-act-.*-alpha\.pdf$/)
    assert.equal((await readFile(await saved.path())).subarray(0, 5).toString(), '%PDF-')
    await page.emulateMedia({ media: 'print' })
    assert.equal(await button(page, 'Download as PDF').isVisible(), false)
    await page.emulateMedia({ media: null })
    await visitor.empty()
  }
})
