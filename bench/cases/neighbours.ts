/**
 * Measures how other partners are affected by a partner that repeatedly sends the largest accepted body or campaign.
 */
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Case } from '../bench.ts'
import { using } from '../bench.ts'
import { type CampaignPlatform, campaignForm, serveCampaigns } from '../campaigns.ts'
import { compareUnderHarm } from '../harm.ts'
import { requireExpected, runLoad } from '../load.ts'
import { memoryOf } from '../processes.ts'
import type { Figure } from '../report.ts'

export const neighboursCase: Case = {
  name: 'neighbours',
  async run(bench) {
    const unlimited = { PENDING_CAMPAIGNS: '1000000', PENDING_CAMPAIGN_MIB: '1000000' }
    return using(serveCampaigns(bench, 'bench_bodies', unlimited), platform => measureBodies(bench, platform))
  },
}

/** A campaign's form with as many objects and values as it may have, all of them invalid. */
const worstBody = (): Buffer => {
  const fields = Array.from({ length: 15 }, (_, index) => `"f${index}":1`).join()
  return Buffer.from(`{"terminals":[${Array(59_990).fill(`{${fields}}`).join()}]}`)
}

/** A form with as many terminals as a campaign may have. */
const largestForm = (platform: CampaignPlatform): Buffer => {
  const terminals = Array.from({ length: 50_000 }, (_, index) => ({
    terminal_id: `T-${index}`,
    terminal_name: `Магазин ${index}`,
    terminal_location: `Київ, вулиця Хрещатик, ${index}`,
    merchant_id: `M-${index}`,
    merchant_name: 'GROCER',
  }))
  const period = { dateFrom: new Date(), dateTo: new Date(Date.now() + 86_400_000) }
  return Buffer.from(JSON.stringify({ ...campaignForm(platform, period), terminalsPlatform: false, terminals }))
}

async function measureBodies(bench: Bench, platform: CampaignPlatform): Promise<Figure[]> {
  const others = async () => {
    const load = { kind: 'get' as const, paths: ['/retailers'] }
    const { port, bankTokens } = platform
    const token = bankTokens[0] ?? ''
    const result = await runLoad({ ports: [port], token, connections: 2, seconds: bench.seconds, load, pauseMs: 5 })
    requireExpected(result)
    return result.answered.get?.p99Ms ?? Number.NaN
  }
  const whileSending = (what: string, body: Buffer, status: number) =>
    compareUnderHarm(bench, `others while one partner sends ${what}, back to back: p99`, others, {
      connections: 2,
      harm: () => sendForm(platform, body, status),
    })
  const before = memoryOf(platform.child.pid).nowMb
  const worst = await whileSending('the worst body', worstBody(), 400)
  const longest = await whileSending('the longest campaign', largestForm(platform), 201)
  return [worst, longest, await memoryAfterwards(platform, before)]
}

/** Sends bytes that were prepared before, so that the sender uses little processor time. */
function sendForm({ port, merchantToken }: CampaignPlatform, body: Buffer, status: number): Promise<void> {
  const headers = {
    authorization: `Bearer ${merchantToken}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  return new Promise((resolve, reject) => {
    const sent = request({ port, method: 'POST', path: '/cashbacks/for-merchant', headers }, answer => {
      answer.resume().once('end', resolve)
      if (answer.statusCode !== status) reject(new Error(`A body is answered ${answer.statusCode}`))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

const maxKeptMb = 96

/** Measures how much memory is still in use a minute after these bodies were sent. */
async function memoryAfterwards({ child }: CampaignPlatform, beforeMb: number): Promise<Figure> {
  const { peakMb } = memoryOf(child.pid)
  await sleep(60_000)
  const { nowMb } = memoryOf(child.pid)
  return {
    name: `memory a minute after these bodies (at most ${peakMb.toFixed(0)} MB meanwhile), with that before them`,
    ours: `${nowMb.toFixed(0)} MB`,
    limit: `${beforeMb.toFixed(0)} MB`,
    ratio: nowMb / beforeMb,
    target: `+ ${maxKeptMb} MB`,
    pass: nowMb - beforeMb <= maxKeptMb,
  }
}
