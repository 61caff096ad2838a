/**
 * Experiments with Idempotency-Key at processes that are killed, and at two processes behind haproxy (contract/http.md, "Repeated
 * requests"). `npm run chaos -- keys` runs them; idempotency.test.ts has their short forms.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Campaigners, campaignFormOf, openCampaigners } from './campaigners.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { range } from './esim.ts'
import { startHaproxy } from './haproxy.ts'
import { callAt, type PerklineProcess } from './process.ts'
import { startWorld, type World } from './world.ts'

type Answer = Awaited<ReturnType<PerklineProcess['call']>>
/**
 * A request that creates a campaign. Its body is made only once, because a form that is made later has other dates and
 * would be another request.
 */
type Create = { name: string; key: string; body: object }
const createOf = (name: string): Create => ({ name, key: randomUUID(), body: campaignFormOf(name) })

const path = '/cashbacks/for-merchant'
const answerWithinMs = 120_000
const tries = 600
const isReplayed = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true'

const create = (url: string, { merchant }: Campaigners, { key, body }: Create): Promise<Answer> =>
  callAt(url, answerWithinMs)('POST', path, {
    token: merchant,
    body,
    headers: { 'idempotency-key': key },
  })

/** Repeats the creation of a campaign until the answer is neither 503 nor 409, as the guides say. */
async function repeat(url: () => string, campaigners: Campaigners, what: Create): Promise<Answer> {
  for (const _ of range(tries)) {
    const answer = await create(url(), campaigners, what).catch(() => null)
    if (answer && answer.status !== 503 && answer.status !== 409) return answer
    await sleep(100)
  }
  return assert.fail(`no answer to ${what.name}`)
}

async function startCampaignWorld(): Promise<{ world: World; campaigners: Campaigners }> {
  const settings = { PENDING_CAMPAIGNS: '1000000', PENDING_CAMPAIGN_MIB: '1000000' }
  let campaigners: Campaigners | null = null
  const first = async (platform: PerklineProcess) => {
    campaigners = await openCampaigners(platform)
  }
  const world = await startWorld({ processes: 2, profiles: 1, seed: 8_500, settings, first })
  return { world, campaigners: campaigners ?? assert.fail('no campaigners') }
}

async function countNamed({ database }: World, names: readonly string[]): Promise<number[]> {
  const rows = await database.query<{ name: string; count: number }>(
    'select name, count(*)::int as count from campaigns where name = any($1) group by 1',
    [names],
  )
  const counts = new Map(rows.map(({ name, count }) => [name, count]))
  return names.map(name => counts.get(name) ?? 0)
}

/**
 * In each round, 20 copies of one request with one key reach two processes behind haproxy at once.
 * @returns how often each answer came
 */
export async function createTogether({ rounds }: { rounds: number }) {
  const { world, campaigners } = await startCampaignWorld()
  const balancer = await startHaproxy(world.processes.map(({ url }) => Number(new URL(url).port)))
  const counts = { first: 0, replayed: 0, inProgress: 0 }
  try {
    for (const round of range(rounds)) {
      const what = createOf(`Together ${round}`)
      const answers = await Promise.all(range(20).map(() => create(balancer.url, campaigners, what)))
      const firsts = answers.filter(answer => answer.status === 201 && !isReplayed(answer))
      assert.equal(firsts.length, 1, answers.map(({ status }) => status).join())
      counts.first++
      for (const answer of answers.filter(one => !firsts.includes(one))) {
        if (answer.status === 201) assert.equal(answer.text, firsts[0]?.text)
        else assert.deepEqual([answer.status, answer.headers.get('perkline-error-code')], [409, 'request-in-progress'])
        counts[answer.status === 201 ? 'replayed' : 'inProgress']++
      }
    }
    const made = await countNamed(
      world,
      range(rounds).map(round => `Together ${round}`),
    )
    assert.ok(made.every(count => count === 1))
    return counts
  } finally {
    await balancer.close()
    await world.close()
  }
}

/**
 * In each round both processes are killed: one after its commit and before its answer arrives, the other at a random moment. Clients
 * repeat their requests with the same keys.
 *
 * @returns how many repeats got a stored answer, and how many did the work
 */
export async function createUnderKills({ rounds }: { rounds: number }) {
  const { world, campaigners } = await startCampaignWorld()
  const counts = { kills: 0, replayed: 0, done: 0 }
  try {
    const names: string[] = []
    for (const round of range(rounds)) {
      const works = range(2).map(index => ({ index, ...createOf(`Killed ${round}-${index}`) }))
      names.push(...works.map(({ name }) => name))
      await Promise.all(
        works.map(work => loseAnswer(world, campaigners, { ...work, isCommitted: work.index === round % 2 })),
      )
      counts.kills += works.length
      for (const { index, ...what } of works) {
        const url = () => world.processes[index]?.url ?? ''
        const answer = await repeat(url, campaigners, what)
        assert.equal(answer.status, 201, answer.text)
        if (index === round % 2) assert.ok(isReplayed(answer), 'it was committed before')
        counts[isReplayed(answer) ? 'replayed' : 'done']++
        assert.equal((await repeat(url, campaigners, what)).text, answer.text)
      }
    }
    assert.ok((await countNamed(world, names)).every(count => count === 1))
    return counts
  } finally {
    await world.close()
  }
}

/** Sends a request to a process and kills the process: after its answer was cut off, or at a random moment. */
async function loseAnswer(
  world: World,
  campaigners: Campaigners,
  { index, isCommitted, ...what }: Create & { index: number; isCommitted: boolean },
): Promise<void> {
  const proxy = await startCuttingProxy(Number(new URL(world.processes[index]?.url ?? '').port), 1)
  try {
    const asked = create(proxy.url, campaigners, what).catch(() => null)
    if (isCommitted) assert.equal(await asked, null)
    else await sleep(Math.random() * 30)
    await world.replace(index, victim => victim.kill())
    await asked
  } finally {
    await proxy.close()
  }
}
