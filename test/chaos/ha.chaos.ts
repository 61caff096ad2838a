/**
 * Failures of a Patroni cluster during sales (contract/production.md, "High availability"). `HA` selects some by their
 * names: `HA='H2 H5' npm run chaos -- ha`.
 */
import assert from 'node:assert/strict'
import process from 'node:process'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sellThrough, surviveDeaths } from '../support/failover.ts'
import type { FailoverFigures } from '../support/failover-ledger.ts'
import { eventually, type Member, type PatroniCluster } from '../support/patroni.ts'
import { startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'
import { openSmallDisk, type SmallDisk } from '../support/small-disk.ts'

const chosen = process.env.HA?.split(/[ ,]+/)
/** Each round takes about a minute. */
const rounds = Math.max(1, Math.round(Number(process.env.CHAOS_SECONDS ?? 60) / 60))
/** How long a primary is frozen: longer than Patroni's `ttl`, so that another primary is chosen meanwhile. */
const frozenMs = 60_000
const cutMs = 45_000

type Run = (t: TestContext) => Promise<FailoverFigures | null>

function experiment(name: string, what: string, run: Run, { isUnseen = false } = {}): void {
  if (chosen && !chosen.includes(name)) return
  test(`${name}: ${what}`, async t => {
    for (const program of ['patroni', 'etcd', 'haproxy']) if (!requireProgram(t, program)) return
    const figures = await run(t)
    if (!figures) return
    t.diagnostic(JSON.stringify({ ...figures, ...recoveryOf(figures) }))
    if (isUnseen) assert.equal(figures.failed, 0, 'requests of a client with three tries')
  })
}

function recoveryOf({ recoveriesMs }: FailoverFigures) {
  const sorted = recoveriesMs.toSorted((one, other) => one - other)
  return { times: sorted.length, p95Ms: sorted[Math.ceil(0.95 * sorted.length) - 1], maxMs: sorted.at(-1) }
}

const others = (cluster: PatroniCluster, primary: Member): Member[] => cluster.members.filter(each => each !== primary)

/**
 * Requests a switchover until Patroni accepts it. Patroni refuses until all members know which of them may become the
 * primary.
 * @returns when the accepted request was sent, by `performance.now()`
 */
async function switchOver(cluster: PatroniCluster): Promise<number> {
  let askedAtMs = 0
  const ask = async (): Promise<boolean> => {
    askedAtMs = performance.now()
    const leader = await cluster.primary()
    return cluster.ask(leader, 'POST', '/switchover', { leader: leader.name }).then(
      () => true,
      () => false,
    )
  }
  await eventually('Patroni switches over', ask, 60_000)
  return askedAtMs
}

experiment('H1', `the primary’s machine is killed ${rounds} times`, () => surviveDeaths(rounds, 'machine'))
experiment('H1-ahead', `it is killed ${rounds} times when its standbys lag`, () =>
  surviveDeaths(rounds, 'machine', { isAhead: true }),
)
experiment('H1-server', `the primary’s server alone is killed ${rounds} times`, () => surviveDeaths(rounds, 'server'))

experiment('H2', `the primary’s machine stands still ${rounds} times`, () =>
  sellThrough({}, async ({ cluster, sellsAgain, isSafeAgain }) => {
    for (let round = 0; round < rounds; round++) {
      await isSafeAgain()
      const primary = await cluster.primary()
      const frozenAtMs = performance.now()
      cluster.freeze(primary)
      await sellsAgain(frozenAtMs)
      await sleep(Math.max(0, frozenAtMs + frozenMs - performance.now()))
      cluster.thaw(primary)
      await eventually('it follows', async () => (await cluster.roles())[primary.name] !== 'leader', 120_000)
    }
  }),
)

experiment('H3', 'the primary is cut off from etcd and the other members, and clients still reach it', () =>
  sellThrough({ cuttable: true }, async ({ cluster, settings, sellsAgain, isSafeAgain, sellAt }) => {
    const primary = await cluster.primary()
    const url = new URL(cluster.databaseUrl)
    url.port = String(primary.port)
    const beside = await startProcess({ ...settings, DATABASE_URL: url.href })
    try {
      assert.equal(await sellAt(beside), 200)
      const cutAtMs = performance.now()
      for (const { links } of [primary]) for (const link of links) link.cut()
      for (const { links } of others(cluster, primary)) links[1]?.cut()
      const statuses: number[] = []
      const selling = (async () => {
        while (performance.now() < cutAtMs + cutMs) statuses.push(await sellAt(beside))
      })()
      await sellsAgain(cutAtMs)
      await selling
      assert.deepEqual(
        statuses.filter(status => status !== 503 && status !== 0),
        [],
        'nothing is acknowledged there',
      )
    } finally {
      await beside.kill()
    }
    for (const { links } of cluster.members) for (const link of links) link.mend()
    await isSafeAgain()
  }),
)

experiment('H4', 'one server of etcd is away, then two', () =>
  sellThrough({ etcds: 3 }, async ({ cluster, figures, sellsAgain, isSafeAgain }) => {
    await sleep(2_000)
    await cluster.loseEtcd(1)
    await sleep(15_000)
    assert.deepEqual([figures.away, figures.failed], [0, 0], 'one away: nothing is noticed')
    cluster.regainEtcd()
    await sleep(3_000)
    await cluster.loseEtcd(2)
    await sleep(30_000)
    const backAtMs = performance.now()
    cluster.regainEtcd()
    await sellsAgain(backAtMs)
    await isSafeAgain()
  }),
)

for (const strict of [true, false])
  experiment('H5', `both standbys are killed, with strict ${strict ? 'on' : 'off'}`, () =>
    sellThrough({}, async ({ cluster, figures, sellsAgain, isSafeAgain }) => {
      const primary = await cluster.primary()
      await cluster.ask(primary, 'PATCH', '/config', { synchronous_mode_strict: strict })
      await sleep(6_000)
      const standbys = others(cluster, primary)
      const killedAtMs = performance.now()
      for (const standby of standbys) await cluster.kill(standby)
      if (!strict) await sellsAgain(killedAtMs)
      // Commits that were under way at the kill keep waiting for a standby. After 15 seconds the platform has given
      // them up.
      await sleep(15_000)
      const before = figures.sold
      await sleep(5_000)
      if (strict) assert.equal(figures.sold, before, 'nothing is acknowledged on one machine')
      else assert.ok(figures.sold > before, 'it goes on alone')
      assert.match(await cluster.metrics(primary), /^patroni_sync_standby\{.*\} 0$/m)
      assert.equal(await cluster.hasStandby(), false, 'as the alert asks')
      const backAtMs = performance.now()
      for (const standby of standbys) cluster.revive(standby)
      await sellsAgain(backAtMs)
      await isSafeAgain()
    }),
  )

experiment(
  'H6',
  `${rounds * 3} planned switchovers, which no client with three tries sees`,
  () =>
    sellThrough({ tries: 3 }, async ({ cluster, sellsAgain, isSafeAgain }) => {
      for (let round = 0; round < rounds * 3; round++) {
        await sleep(2_000)
        await sellsAgain(await switchOver(cluster))
        await isSafeAgain()
      }
    }),
  { isUnseen: true },
)

experiment(
  'H7',
  'all three are restarted one after the other, which no client with three tries sees',
  () =>
    sellThrough({ tries: 3 }, async ({ cluster, sellsAgain, isSafeAgain }) => {
      const primary = await cluster.primary()
      const restart = async (member: Member) => {
        await isSafeAgain()
        const askedAtMs = performance.now()
        await cluster.ask(member, 'POST', '/restart', {})
        await sellsAgain(askedAtMs)
      }
      for (const replica of others(cluster, primary)) await restart(replica)
      await isSafeAgain()
      await sellsAgain(await switchOver(cluster))
      await restart(primary)
      await isSafeAgain()
    }),
  { isUnseen: true },
)

experiment('H8', 'the disk of the primary is full', async t => {
  const disks: SmallDisk[] = []
  for (let opened = 0; opened < 3; opened++) {
    const disk = openSmallDisk(t, 400)
    if (!disk) return null
    disks.push(disk)
  }
  try {
    return await sellThrough(
      { folders: disks.map(({ folder }) => folder) },
      async ({ cluster, sellsAgain, isSafeAgain }) => {
        await sleep(2_000)
        const primary = await cluster.primary()
        const disk = disks[cluster.members.indexOf(primary)]
        await disk?.fill()
        await sleep(30_000)
        const backAtMs = performance.now()
        await disk?.makeRoom()
        await sellsAgain(backAtMs)
        await isSafeAgain()
      },
    )
  } finally {
    for (const disk of disks) await disk.close()
  }
})
