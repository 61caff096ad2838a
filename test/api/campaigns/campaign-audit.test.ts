/**
 * `perkline audit` on campaigns: every check passes after everything that partners do, and each fails on data that the
 * test has broken.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import {
  columnsOf,
  launchCampaign,
  moveClock,
  openPartners,
  type Partners,
  receiveCompensation,
} from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids } from '../../support/campaigns.ts'
import { perkline } from '../../support/command.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { endedCampaign, line, reportOf, uploadBank, uploadMerchant } from '../../support/reconciliation.ts'
import { addCustomers, fileOf, putSegment } from '../../support/segments.ts'

let platform: TestPlatform
let partners: Partners
const run = (text: string) => platform.platform.database.execute(text)
const proven = () => audit(platform.platform.deps.admin, new Date())

/** Tables that tests break and restore afterwards. */
const tables = [
  'campaigns',
  'campaign_banks',
  'campaign_counts',
  'campaign_history',
  'campaign_segments',
  'reports',
  'report_lines',
  'report_differences',
  'reconciliations',
  'merchant_terminal_lists',
  'customers',
]

before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
  await makeCampaigns()
  // Removes the database's constraints, so that the test can store what an audit must find.
  for (const table of tables)
    for (const { name } of await platform.platform.database.query<{ name: string }>(
      `select conname as name from pg_constraint
       where conrelid = '${table}'::regclass and contype in ('c', 'f') and conname not like '%not_null%'`,
    ))
      await run(`alter table ${table} drop constraint ${name} cascade`)
  for (const table of tables) await run(`create table kept_${table} as table ${table}`)
})
after(() => platform.close())
afterEach(async () => {
  // A trigger counts the customers again when they are restored.
  await run(`truncate ${tables.join(', ')}, customer_counts cascade`)
  for (const table of tables) {
    const columns = await columnsOf(platform.platform.database, table)
    await run(`insert into ${table} (${columns}) overriding system value select ${columns} from kept_${table}`)
  }
})

/** Makes one campaign of each kind: waiting, deleted, rejected, expired, reported, completed; with segments. */
async function makeCampaigns(): Promise<void> {
  const { grocer, alpha, beta } = partners
  const both = { participantsIds: [ids.alpha, ids.beta] }
  await addCustomers(platform, 'alpha', ['A-1', 'A-2'])
  const completed = await launchCampaign(platform, partners, { name: 'Completed' })
  await createCampaign(platform, both, grocer)
  await moveClock(platform, { advance: 'P41D' })
  await receiveCompensation(platform, completed)
  await moveClock(platform, { advance: 'P31D' })

  const rejected = await createCampaign(platform, both, grocer)
  await beta.call('POST', `/cashbacks/${rejected}/reject`, { body: { comment: 'No' } })
  const edited = await createCampaign(platform, { ...both, name: 'Edited' }, grocer)
  const body = { participantsIds: [ids.gamma], percentage: 7.25, maxBudget: 1000.5 }
  const answer = await grocer.call('PATCH', `/cashbacks/for-merchant/${edited}`, { body })
  assert.equal(answer.status, 200, answer.text)
  const deleted = await createCampaign(platform, {}, grocer)
  await grocer.call('DELETE', `/cashbacks/for-merchant/${deleted}`)
  const segmented = await createCampaign(platform, { name: 'Segmented' }, grocer)
  assert.equal((await putSegment(grocer, segmented, fileOf(['A-1', 'A-2']))).status, 200)

  const ended = await endedCampaign({ platform, ...partners }, [alpha, beta], { name: 'Reported' })
  const report = await uploadBank(alpha, ended.id, reportOf(line(ended, 'a')))
  assert.equal(report.status, 201, report.text)
  const file = `transactionId,terminalId,transactionAt,amount\na,T-0001,${ended.at},200\n`
  assert.equal((await uploadMerchant(grocer, ended.id, file)).status, 201)
  assert.equal((await uploadBank(alpha, ended.id, reportOf(line(ended, 'a'), line(ended, 'b')))).status, 201)
}

test('everything that partners and the clock have done is in order', async () => {
  const { ok, checks } = await proven()
  assert.ok(ok, JSON.stringify(checks.filter(check => !check.ok)))
  const env = { PERKLINE_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey }
  const { code, stdout } = await perkline(['audit'], { env })
  assert.equal(code, 0)
  for (const name of names) assert.ok(stdout.includes(`ok   ${name}: `), name)
})

const states = 'every campaign and each of its banks has a known status'
const launched = 'every launched campaign has an approved bank and no pending one'
const parts = 'every bank’s part fits its campaign'
const turns = 'campaigns that wait for the merchant are marked'
const counts = 'the counts of campaigns by status are right'
const moves = 'the history has only allowed transitions'
const gaps = 'history has no gaps'
const present = 'history leads to the present states'
const reports = 'the counts of reports are right'
const shown = 'the stored answers about campaigns agree with their columns'
const segments = 'every segment has as many customers as it says'
const feeds = 'every transition of a campaign is in the feeds'
const sums = 'reports add up'
const names = [states, launched, parts, turns, counts, moves, gaps, present, reports, shown, segments, sums]

const called = (name: string) => `(select cashback_id from campaigns where name = '${name}')`
const lastEntry = (name: string) =>
  `history_id = (select max(history_id) from campaign_history where cashback_id = ${called(name)} and subject = 'campaign')`

const broken: [string, string, string[], RegExp][] = [
  [
    'a campaign in no state',
    `update campaigns set status = 'lost' where name = 'Edited'`,
    [states, parts, counts, present],
    /has the status lost/,
  ],
  [
    'a bank in no state',
    `update campaign_banks set status = 'maybe' where cashback_id = ${called('Edited')}`,
    [states, counts, present],
    /bank c3c3.* has the status maybe/,
  ],
  [
    'a reporting at no stage',
    `update campaign_banks set reporting_stage = 'lost' where cashback_id = ${called('Reported')} and bank_id = '${ids.alpha}'`,
    [states, turns, present, shown],
    /has the reporting stage lost/,
  ],
  [
    'a campaign that runs without a bank',
    `update campaigns set status = 'active' where name = 'Edited'`,
    [launched, parts, counts, present],
    /is active with 0 approved and 1 pending banks/,
  ],
  [
    'a bank that is waited for although the period is over',
    `update campaign_banks set status = 'pending', reporting_stage = null
     where cashback_id = ${called('Completed')}`,
    [launched, counts, present],
    /is completed with 0 approved and 1 pending banks/,
  ],
  [
    'reporting before the end',
    `update campaign_banks set status = 'approved', reporting_stage = 'settled' where cashback_id = ${called('Edited')}`,
    [parts, turns, counts, present],
    /is approved at settled while the campaign is awaitingBankApproval/,
  ],
  [
    'paid without settlement',
    `update campaign_banks set reporting_stage = 'awaitingBankReconciliation' where cashback_id = ${called('Completed')}`,
    [parts, present],
    /is at awaitingBankReconciliation while the campaign is completed/,
  ],
  [
    'listed at another time',
    `update campaign_banks set created_at = created_at + interval '1 s' where cashback_id = ${called('Edited')}`,
    [parts],
    /is listed at another time/,
  ],
  [
    'listed with another end',
    `update campaign_banks set date_to = date_to + interval '1 s' where cashback_id = ${called('Edited')}`,
    [parts],
    /is listed with another end of the period/,
  ],
  [
    'listed with another beginning',
    `update campaign_banks set date_from = date_from - interval '1 s' where cashback_id = ${called('Edited')}`,
    [parts],
    /is listed with another beginning of the period/,
  ],
  [
    'listed with another percentage',
    `update campaign_banks set percentage = percentage + 1 where cashback_id = ${called('Edited')}`,
    [parts],
    /is listed with another percentage/,
  ],
  [
    'listed with another name',
    `update campaign_banks set name = 'Else' where cashback_id = ${called('Edited')}`,
    [parts],
    /is listed with another name/,
  ],
  [
    'a turn that nobody knows of',
    'update campaigns set awaits_merchant = not awaits_merchant',
    [turns],
    /does not await its merchant/,
  ],
  [
    'a campaign that is not counted',
    `update campaign_counts set campaigns = campaigns - 1 where bank_status = ''`,
    [counts],
    /merchant [0-9a-f-]{36} has 1 campaigns that are completed, but 0 are counted/,
  ],
  [
    'a count of nothing',
    `update campaign_counts set campaign_status = 'lost ' || campaign_status where bank_status <> ''`,
    [counts],
    /bank [0-9a-f-]{36} has 0 campaigns that are lost \w+ and \w+, but \d are counted/,
  ],
  [
    'a move that is none',
    `update campaign_history set trigger = 'pay' where ${lastEntry('Completed')}`,
    [moves, feeds],
    /moves a campaign from compensationReceived by pay to completed/,
  ],
  [
    'a gap',
    `delete from campaign_history where trigger = 'start' and cashback_id = ${called('Completed')}`,
    [gaps],
    /moves a campaign from active, which was approved/,
  ],
  [
    'a history that begins in the middle',
    `delete from campaign_history where trigger = 'create' and cashback_id = ${called('Edited')}`,
    [gaps],
    /moves a campaign from awaitingBankApproval, which was nothing/,
  ],
  [
    'a history that has something else for an edit',
    `update campaign_history set trigger = 'launch' where trigger = 'edit' and cashback_id = ${called('Edited')}`,
    [moves],
    /moves a campaign from awaitingBankApproval by launch to awaitingBankApproval/,
  ],
  [
    'a history of more than has happened',
    `delete from campaign_banks where cashback_id = ${called('Edited')}`,
    [counts, present],
    /bank c3c3.*: bank is nothing, by its history pending/,
  ],
  [
    'a state that was changed past the history',
    `update campaigns set status = 'deleted' where name = 'Edited'`,
    [parts, counts, present],
    /campaign is deleted, by its history awaitingBankApproval/,
  ],
  [
    'a report that is gone',
    `delete from reports where side = 'bank' and version = 2`,
    [reports],
    /counts 2 reports of the bank, of which 1 are kept, the last number 1/,
  ],
  [
    'a report too many',
    'update campaign_banks set merchant_report_uploads = 0',
    [reports],
    /counts 0 reports of the merchant, of which 1 are kept/,
  ],
  ...(
    [
      ['lines', 'update reports set lines = lines + 1', /states \d lines, .* but has \d lines/],
      ['a total', 'update reports set total_amount = total_amount + 0.01', /states .* 400\.01 .*, but has .* 400\.00/],
      ['a total of cashback', 'update reports set total_cashback = total_cashback + 0.01', /of cashback, but has/],
      ['a line', 'delete from report_lines where line = 2', /states 2 lines, .*, but has 1 lines/],
      [
        'broken terms',
        `update reports set broken_terms = '{"outside-period":1}'`,
        /lines that break the terms than are listed/,
      ],
      ['matches', 'update reconciliations set matched = matched + 1', /states 2 matching transactions, but has 1/],
      ['differences', `update reconciliations set unmatched = '{}'`, /states other numbers of differences/],
    ] as const
  ).map(([what, change, detail]): (typeof broken)[number] => [
    `a report that states other ${what}`,
    change,
    [sums],
    detail,
  ]),
  [
    'a compensation that no report implies',
    `update campaign_banks set expected_compensation = expected_compensation + 1`,
    [sums],
    /expects a compensation of [0-9.]+, but its report implies [0-9.]+/,
  ],
  [
    'a merchant with another number of terminals',
    'update merchant_terminal_lists set terminals_count = terminals_count + 1',
    [shown],
    /^merchant [0-9a-f-]{36} shows another number of terminals/,
  ],
  ...Object.entries({
    name: `name = 'Other'`,
    dateTo: `date_to = date_to + interval '1 ms'`,
    percentage: 'percentage = 7.26',
    maxBudget: 'max_budget = null',
    retailerId: `merchant_id = '${ids.voltshop}'`,
    'number of terminals': 'terminals_count = terminals_count + 1',
  }).map(([field, change]): (typeof broken)[number] => [
    `another ${field} than readers see`,
    `update campaigns set ${change} where name = 'Edited'`,
    [
      ...(['dateTo', 'name'].includes(field) ? [parts] : []),
      ...(field === 'retailerId' ? [counts, shown, feeds] : [shown]),
    ],
    new RegExp(`shows another ${field}`),
  ]),
  [
    'a card that is no JSON',
    `update campaigns set card = left(card, 100) where name = 'Edited'`,
    [shown],
    /^campaign [0-9a-f-]{36} shows a card that is no JSON$/,
  ],
  [
    'a card of odd values',
    `update campaigns set card = regexp_replace(card, '"percentage":[^,]*', '"percentage":"seven"') where name = 'Edited'`,
    [shown],
    /^campaign [0-9a-f-]{36} shows another percentage$/,
  ],
  [
    'terminals that are no list',
    `update campaigns set terminals = '{' where name = 'Edited'`,
    [shown],
    /^campaign [0-9a-f-]{36} shows another number of terminals$/,
  ],
  [
    'customers that are no list',
    `update campaign_segments set customer_ids = '{}'`,
    [segments],
    /has 2 customers in its segment, but no list of them are listed/,
  ],
  [
    'a segment that counts wrong',
    'update campaign_segments set customers_count = 3',
    [segments],
    /has 3 customers in its segment, but 2 are listed/,
  ],
  [
    'customers of no bank',
    `update customers set bank_id = '${ids.visa}'`,
    [segments],
    /customers belong to the bank 11111111-.*, which does not exist/,
  ],
  [
    'a bank that counts wrong',
    'update customer_counts set customers = 3',
    [segments],
    /^bank [0-9a-f-]{36} has 2 customers, but 3 are counted$/,
  ],
]
for (const [what, change, red, detail] of broken)
  test(`red: ${what}`, async () => {
    assert.ok((await run(change)) > 0, 'nothing was changed')
    const failed = (await proven()).checks.filter(({ ok }) => !ok)
    assert.deepEqual(
      failed.map(({ name }) => name),
      red,
    )
    assert.ok(
      failed.some(check => detail.test(check.detail)),
      failed.map(check => check.detail).join('\n'),
    )
  })

// These tests must be the last ones: they turn generated columns into ordinary ones, which the database no longer
// computes.
for (const [table, column, fault] of [
  ['campaigns', 'standing', /shows another status or updatedAt/],
  ['campaign_banks', 'participation', /is shown with another part/],
] as const)
  test(`red: ${column} of ${table} that the database has not made`, async () => {
    await run(`alter table ${table} alter column ${column} drop expression`)
    await run(
      `update ${table} set ${column} = replace(${column}, '":"', '":" ') where cashback_id = ${called('Edited')}`,
    )
    const failed = (await proven()).checks.filter(({ ok }) => !ok)
    assert.deepEqual(
      failed.map(({ name }) => name),
      [shown],
    )
    assert.match(failed[0]?.detail ?? '', fault)
  })
