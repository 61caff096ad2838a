/** Uploaded reports byte for byte, and all differences as CSV (contract/portal.md, "Reads"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { readDifferences } from '../../../src/reconciliation/file-store.ts'
import { campaignDirectory, createCampaign, ids } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import {
  endedCampaign,
  header,
  line,
  merchantHeader,
  openSides,
  reconciliationOf,
  reportOf,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
})
after(() => platform.close())

async function uploaded(file: string | Uint8Array, fileName = 'report.csv') {
  const campaign = await endedCampaign(sides, [sides.alpha])
  const answer = await uploadBank(sides.alpha, campaign.id, { file, fileName })
  assert.equal(answer.status, 201, answer.text)
  return { id: campaign.id, reportId: answer.body.reportId as string }
}

suite('GET /portal/reports/:reportId/file', () => {
  test('the file as it was sent, to both sides', async () => {
    const { alpha, grocer } = sides
    const rows = Array.from({ length: 60_000 }, (_, index) => {
      const id = index % 7 === 0 ? `"чек ""${index}"""` : `tx-${index}`
      return `${id},T-${index % 5},2026-12-03T10:15:00.${String(index % 1000).padStart(3, '0')}Z,${index % 400}.5,1`
    })
    const files: [string, Buffer][] = [
      ['header alone', Buffer.from(header)],
      ['a byte-order mark, CRLF, empty lines', Buffer.from(`\ufeff${header}\r\n\r\n\r\n`)],
      ['several megabytes', Buffer.from(`${header}\n${rows.join('\r\n')}`)],
    ]
    for (const [name, file] of files) {
      const { reportId } = await uploaded(file)
      for (const partner of [alpha, grocer]) {
        const answer = await partner.call('GET', `/portal/reports/${reportId}/file`)
        assert.equal(answer.status, 200, name)
        assert.ok(file.equals(answer.body), name)
        assert.equal(answer.headers.get('content-length'), String(file.length))
      }
    }
    assert.ok((files[2]?.[1].length ?? 0) > 2 * 1024 * 1024, 'more than one piece in the database')
  })

  test('under its own name, and never as a page', async () => {
    const names: [string, string][] = [
      ['december.csv', `attachment; filename="december.csv"; filename*=UTF-8''december.csv`],
      ['Звіт 1.csv', `attachment; filename="____ 1.csv"; filename*=UTF-8''%D0%97%D0%B2%D1%96%D1%82%201.csv`],
      [`a'b(c)*;d%20.csv`, `attachment; filename="a'b(c)*;d_20.csv"; filename*=UTF-8''a%27b%28c%29%2A%3Bd%2520.csv`],
      ['../../x.html', `attachment; filename="x.html"; filename*=UTF-8''x.html`],
    ]
    for (const [name, disposition] of names) {
      const { reportId } = await uploaded(reportOf(), name)
      const { headers } = await sides.grocer.call('GET', `/portal/reports/${reportId}/file`)
      assert.equal(headers.get('content-disposition'), disposition)
      assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
    }
  })

  test('HEAD tells the same without the file', async () => {
    const { reportId } = await uploaded(reportOf())
    const answer = await sides.alpha.call('HEAD', `/portal/reports/${reportId}/file`)
    assert.deepEqual([answer.status, answer.text], [200, ''])
    assert.equal(answer.headers.get('content-length'), String(reportOf().length))
  })
})

const csvHeader = '\ufeff"kind","transactionId","bankLine","merchantLine","expected","found"\r\n'

suite('GET /portal/cashbacks/:id/banks/:bankId/differences.csv', () => {
  const csv = (id: string, partner = sides.grocer) =>
    partner.call('GET', `/portal/cashbacks/${id}/banks/${ids.alpha}/differences.csv`)

  test('all of them in their order, of which the reconciliation shows the first thousand', async () => {
    const { alpha, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const lines = Array.from({ length: 3_000 }, (_, index) => line(campaign, `tx-${index}`, { terminalId: 'nowhere' }))
    assert.equal((await uploadBank(alpha, campaign.id, [header, ...lines].join('\n'))).status, 201)
    const own = [
      merchantHeader,
      ...Array.from({ length: 2_500 }, (_, index) => `own-${index},T-0001,${campaign.at},200`),
    ]
    const answered = await uploadMerchant(grocer, campaign.id, own.join('\n'))
    assert.equal(answered.body.differences.total, 8_500)
    const answer = await csv(campaign.id)
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(
      answer.headers.get('content-disposition'),
      `attachment; filename="differences-${campaign.id}-${ids.alpha}.csv"; filename*=UTF-8''differences-${campaign.id}-${ids.alpha}.csv`,
    )
    assert.ok(answer.text.startsWith('\ufeff"kind"'), answer.text.slice(0, 20))
    const rows: Record<string, string>[] = parse(answer.text, { columns: true, bom: true })
    assert.equal(rows.length, 8_500)
    const { items } = (await reconciliationOf(alpha, campaign.id)).differences
    assert.equal(items.length, 1_000)
    const texts = items.map((item: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(item).map(([field, value]) => [field, String(value ?? '')])),
    )
    assert.deepEqual(rows.slice(0, 1_000), texts)
    assert.deepEqual(
      rows.slice(5_999, 6_001).map(({ kind, transactionId }) => [kind, transactionId]),
      [
        ['only-in-bank-report', 'tx-2999'],
        ['only-in-merchant-report', 'own-0'],
      ],
    )
    assert.equal((await csv(campaign.id, alpha)).text, answer.text)
  })

  test('with many banks the merchant’s reconciliation shows fewer of each', async () => {
    const bankId = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}`
    const banks = Array.from({ length: 300 }, (_, n) => n)
    await platform.applyDirectory(
      `banks:\n${banks.map(n => `  - { id: ${bankId(n)}, code: many-${n}, name: Bank ${n}, esim: { operators: all } }`).join('\n')}`,
    )
    for (const [count, shown] of [
      [5, 1_000],
      [6, 833],
      [300, 20],
    ] as const) {
      const participantsIds = banks.slice(0, count).map(bankId)
      const id = await createCampaign(platform, { participantsIds }, sides.grocer)
      const { database } = platform.platform
      await database.execute(
        `insert into reports (report_id, cashback_id, bank_id, side, version, file_name, size_bytes, lines, total_amount, total_cashback,
           uploaded_at, actor_type, actor_id, actor_subject, broken_terms, sha256)
         select gen_random_uuid(), cashback_id, bank_id, 'bank', 1, 'f.csv', 1, 1001, 0, 0, now(), 'bank', bank_id, 'x',
           '{"wrong-cashback":1001}', sha256('x') from campaign_banks where cashback_id = '${id}'`,
      )
      await database.execute(
        `insert into reconciliations (cashback_id, bank_id, bank_report_id, unmatched)
         select cashback_id, bank_id, report_id, '{}' from reports where cashback_id = '${id}'`,
      )
      await database.execute(
        `insert into report_differences (report_id, place, kind, bank_line, transaction_id)
         select report_id, n, 'wrong-cashback', n, 'x' from reports, generate_series(1, 1001) n where cashback_id = '${id}'`,
      )
      const read = await sides.grocer.call('GET', `/portal/cashbacks/${id}/reconciliation`)
      const lengths = read.body.banks.map(
        ({ differences }: { differences: { items: unknown[] } }) => differences.items.length,
      )
      assert.deepEqual(
        lengths,
        Array.from({ length: count }, () => shown),
      )
      assert.equal(read.body.banks[0].differences.total, 1_001)
    }
  })

  test('values with commas, quotes and spaces are quoted', async () => {
    const { alpha } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const terminalId = '"a, ""b"" "'
    await uploadBank(alpha, campaign.id, reportOf(line(campaign, '"x, 1"', { terminalId })))
    const { text } = await csv(campaign.id)
    assert.equal(text, `${csvHeader}"unknown-terminal","x, 1",2,,,"a, ""b"" "\r\n`)
  })

  test('what a spreadsheet would calculate is text to it, in every piece of a cell', async () => {
    const { alpha } = sides
    const campaign = await endedCampaign(sides, [alpha])
    const odd = [
      '=1+1',
      '+cmd|x',
      '-a',
      '@sum',
      '"=a,1"',
      '-5',
      '+380',
      '007',
      "x;=cmd|'/C calc'!A0;y",
      '＝1+1',
      'a;＠b',
    ]
    const report = reportOf(...odd.map(id => line(campaign, id, { terminalId: `=T` })))
    const uploaded = await uploadBank(alpha, campaign.id, report)
    assert.equal(uploaded.status, 201, uploaded.text)
    const { text } = await csv(campaign.id)
    const shown = [
      "'=1+1",
      "'+cmd|x",
      "'-a",
      "'@sum",
      "'=a,1",
      "'-5",
      "'+380",
      '007',
      "x;'=cmd|'/C calc'!A0;y",
      "'＝1+1",
      "a;'＠b",
    ]
    assert.deepEqual(
      text.trimEnd().split('\r\n').slice(1),
      shown.map((id, index) => `"unknown-terminal","${id}",${index + 2},,,"'=T"`),
    )
    const { reports, differences } = await reconciliationOf(alpha, campaign.id)
    assert.equal(differences.items[0].transactionId, '=1+1')
    const file = await alpha.call('GET', `/portal/reports/${reports[0].reportId}/file`)
    assert.equal(file.body.toString(), report)
  })

  test('without a report, and without a difference, there is the header alone', async () => {
    const campaign = await endedCampaign(sides, [sides.alpha])
    assert.equal((await csv(campaign.id)).text, csvHeader)
    await uploadBank(sides.alpha, campaign.id, reportOf(line(campaign, 'a')))
    assert.equal((await csv(campaign.id)).text, csvHeader)
  })

  test('an upload meanwhile breaks the reading off: half a list is never taken for the whole', async () => {
    const { alpha, grocer } = sides
    const campaign = await endedCampaign(sides, [alpha])
    await uploadBank(alpha, campaign.id, reportOf())
    const own = Array.from({ length: 2_001 }, (_, index) => `own-${index},T-0001,${campaign.at},200`)
    await uploadMerchant(grocer, campaign.id, [merchantHeader, ...own].join('\n'))
    const pages = await readDifferences(platform.platform.database, { cashbackId: campaign.id, bankId: ids.alpha })
    assert.equal((await pages.next()).value?.length, 2_000)
    await uploadBank(alpha, campaign.id, reportOf())
    await assert.rejects(pages.next(), /replaced/)
  })
})
