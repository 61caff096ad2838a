/** Uploads and reconciles two reports of a million lines: time, memory, and the effect on other requests. */
import { createWriteStream, openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Bench, Case } from '../bench.ts'
import { using } from '../bench.ts'
import { type CampaignPlatform, launchCampaign, serveCampaigns } from '../campaigns.ts'
import type { Latency } from '../client.ts'
import { requireExpected, runLoad } from '../load.ts'
import { memoryOf } from '../processes.ts'

const targetSeconds = 120
const memoryTargetMb = 200
const stallTargetMs = 100
const dayMs = 86_400_000

export const reconciliationCase: Case = {
  name: 'reconciliation',
  run: bench => using(serveCampaigns(bench, 'bench_reconciliation'), platform => measure(bench, platform)),
}

async function measure(bench: Bench, platform: CampaignPlatform) {
  const count = bench.quick ? 100_000 : 1_000_000
  const dateTo = new Date(Date.now() + 3_600_000)
  const id = await launchCampaign(platform, { dateFrom: new Date(Date.now() - 30 * dayMs), dateTo })
  await platform.call('POST', '/sandbox/clock', platform.merchantToken, { advance: 'PT2H' })
  const files = { bank: join(bench.folder, 'bank.csv'), merchant: join(bench.folder, 'merchant.csv') }
  for (const side of ['bank', 'merchant'] as const)
    await pipeline(Readable.from(reportLines(side, count, Date.now() - 20 * dayMs)), createWriteStream(files[side]))

  const { pid } = platform.child
  const before = memoryOf(pid)
  // Resets the peak of the process's memory.
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})
  const [bankToken = ''] = platform.bankTokens
  const [bankId = ''] = platform.bankIds
  const uploads = { running: true }
  const others = watchOthers(platform, uploads)
  const seconds: number[] = []
  for (const [file, token, path] of [
    [files.bank, bankToken, `/portal/cashbacks/${id}/bank-report`],
    [files.merchant, platform.merchantToken, `/portal/cashbacks/${id}/banks/${bankId}/merchant-report`],
    [files.bank, bankToken, `/portal/cashbacks/${id}/bank-report`],
  ] as const)
    seconds.push(await upload(platform, { file, token, path, count }))
  uploads.running = false
  const noticed = await others
  const { peakMb } = memoryOf(pid)
  return figures({ count, seconds, beforeMb: before.nowMb, peakMb, noticed })
}

/**
 * The lines of a report. Of each hundred transactions, one is only in the bank's report and one only in the merchant's.
 * One has different amounts in the two reports, and one has a wrong cashback in the bank's report.
 */
function* reportLines(side: 'bank' | 'merchant', count: number, from: number): Generator<string> {
  yield 'transactionId,terminalId,transactionAt,amount,cashbackAmount\n'
  let text = ''
  for (let index = 0; index < count; index++) {
    const kind = index % 100
    const id = kind === 1 ? `${side}-${index}` : `TX-2026-${String(index).padStart(9, '0')}`
    const cents = 10_000 + ((index * 7_919) % 490_000)
    const cashback = Math.floor((cents * 5 + 50) / 100)
    const amountCents = kind === 2 && side === 'merchant' ? cents + 1 : cents
    const wrong = kind === 3 && side === 'bank' ? 1 : 0
    const at = new Date(from + index * 1_000).toISOString()
    text += `${id},T-1,${at},${money(amountCents)},${side === 'bank' ? money(cashback + wrong) : ''}\n`
    if (text.length < 65_536) continue
    yield text
    text = ''
  }
  yield text
}

const money = (cents: number): string => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`

async function upload(
  platform: CampaignPlatform,
  { file, token, path, count }: { file: string; token: string; path: string; count: number },
): Promise<number> {
  const form = new FormData()
  form.append('file', await openAsBlob(file), 'report.csv')
  const start = performance.now()
  const answer = await fetch(platform.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
  const text = await answer.text()
  if (answer.status !== 201 || JSON.parse(text).lines !== count)
    throw new Error(`The upload answered ${answer.status}: ${text.slice(0, 500)}`)
  return (performance.now() - start) / 1000
}

/**
 * Measures short reads of another partner while the reports are uploaded. The reads are as frequent as those of a
 * person's portal.
 */
async function watchOthers(platform: CampaignPlatform, uploads: { running: boolean }): Promise<Latency[]> {
  const noticed: Latency[] = []
  while (uploads.running) {
    const result = await runLoad({
      ports: [platform.port],
      token: platform.merchantToken,
      connections: 2,
      seconds: 3,
      load: { kind: 'get', paths: ['/cashbacks/for-merchant/banks'] },
      pauseMs: 10,
    })
    requireExpected(result)
    if (result.answered.get) noticed.push(result.answered.get)
  }
  return noticed
}

function figures(params: { count: number; seconds: number[]; beforeMb: number; peakMb: number; noticed: Latency[] }) {
  const { count, seconds, peakMb, noticed } = params
  const [bank = 0, merchant = 0, updated = 0] = seconds
  const worst = (of: (latency: Latency) => number) => Math.max(...noticed.map(of))
  const name = `reports of ${count.toLocaleString('en')} lines`
  const figure = (what: string, ours: string, target: string, pass: boolean | null) => ({
    name: `${name}: ${what}`,
    ours,
    limit: '',
    ratio: null,
    target,
    pass,
  })
  const both = bank + merchant
  return [
    figure(
      `the bank’s and the merchant’s, reconciled (${bank.toFixed(1)} s and ${merchant.toFixed(1)} s)`,
      `${both.toFixed(1)} s`,
      `<= ${targetSeconds} s`,
      both <= targetSeconds,
    ),
    figure('the bank’s updated one', `${updated.toFixed(1)} s`, '', null),
    figure(
      `peak memory of the process (${Math.round(params.beforeMb)} MB before)`,
      `${Math.round(peakMb)} MB`,
      `<= ${memoryTargetMb} MB`,
      peakMb <= memoryTargetMb,
    ),
    figure(
      `99 of 100 short reads meanwhile (the longest of all: ${Math.round(worst(({ maxMs }) => maxMs))} ms)`,
      `${worst(({ p99Ms }) => p99Ms).toFixed(1)} ms`,
      `<= ${stallTargetMs} ms`,
      worst(({ p99Ms }) => p99Ms) <= stallTargetMs,
    ),
  ]
}
