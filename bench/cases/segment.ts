/**
 * Imports the directory of customers, and then forms a segment of a million customers over five banks. Measures the
 * time, and the memory of the process.
 */
import { createWriteStream, openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Bench, type Case, using } from '../bench.ts'
import { banksCount, type CampaignPlatform, createCampaign, serveCampaigns } from '../campaigns.ts'
import { memoryOf } from '../processes.ts'

const targetSeconds = 60
const memoryTargetMb = 200
const dayMs = 86_400_000

export const segmentCase: Case = {
  name: 'segment',
  run: bench => using(serveCampaigns(bench, 'bench_segment'), platform => measure(bench, platform)),
}

async function measure(bench: Bench, platform: CampaignPlatform) {
  const count = bench.quick ? 100_000 : 1_000_000
  const period = { dateFrom: new Date(Date.now() + 10 * dayMs), dateTo: new Date(Date.now() + 20 * dayMs) }
  const id = await createCampaign(platform, period)
  const imported = await withPeak(platform, () => importAll(bench, platform, count))
  const file = join(bench.folder, 'segment.csv')
  await writeIds(file, count, index => index)
  const formed = await withPeak(platform, () => formSegment(platform, id, file, count))
  const shown = count.toLocaleString('en')
  const figures = (what: string, { seconds, peakMb }: Measured) => [
    {
      name: what,
      ours: `${seconds.toFixed(1)} s`,
      limit: '',
      ratio: null,
      target: `<= ${targetSeconds} s`,
      pass: seconds <= targetSeconds,
    },
    {
      name: `${what}: peak memory of the process`,
      ours: `${Math.round(peakMb)} MB`,
      limit: '',
      ratio: null,
      target: `<= ${memoryTargetMb} MB`,
      pass: peakMb <= memoryTargetMb,
    },
  ]
  return [
    ...figures(`import of ${shown} customers`, imported),
    ...figures(`segment of ${shown} customers of ${banksCount} banks`, formed),
  ]
}

type Measured = { seconds: number; peakMb: number }

async function withPeak({ child }: CampaignPlatform, work: () => Promise<void>): Promise<Measured> {
  // Resets the peak of the process's memory.
  await writeFile(`/proc/${child.pid}/clear_refs`, '5').catch(() => {})
  const start = performance.now()
  await work()
  return { seconds: (performance.now() - start) / 1_000, peakMb: memoryOf(child.pid).peakMb }
}

/** The ids are scattered over the alphabet like real ones, and as long as UUIDs. */
const customerId = (index: number): string =>
  `${((index * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')}-0000-4000-8000-${String(index).padStart(12, '0')}`

function writeIds(file: string, count: number, indexOf: (line: number) => number): Promise<void> {
  const lines = function* () {
    yield 'customerId\n'
    for (let line = 0; line < count; line++) yield `${customerId(indexOf(line))}\n`
  }
  return pipeline(Readable.from(lines()), createWriteStream(file))
}

/**
 * Imports the customers of all banks. The customers 0, 5, 10 and so on belong to the first bank, 1, 6, 11 to the
 * second.
 */
async function importAll(bench: Bench, platform: CampaignPlatform, count: number): Promise<void> {
  for (let bank = 0; bank < banksCount; bank++) {
    const file = join(bench.folder, 'customers.csv')
    await writeIds(file, count / banksCount, line => line * banksCount + bank)
    const answer = await fetch(`${platform.url}/admin/customers?bank=bank-${bank + 1}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.operatorKey}`, 'content-type': 'text/csv' },
      body: await openAsBlob(file),
    })
    const text = await answer.text()
    if (!text.includes(`"imported":${count / banksCount}`))
      throw new Error(`The import answered ${answer.status}: ${text.slice(0, 500)}`)
  }
}

async function formSegment(platform: CampaignPlatform, id: string, file: string, count: number): Promise<void> {
  const form = new FormData()
  form.append('file', await openAsBlob(file), 'segment.csv')
  const answer = await fetch(`${platform.url}/portal/cashbacks/${id}/segment`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${platform.merchantToken}` },
    body: form,
  })
  const text = await answer.text()
  if (!text.includes(`"customersCount":${count}`))
    throw new Error(`The segment answered ${answer.status}: ${text.slice(0, 500)}`)
}
