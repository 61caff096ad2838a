/**
 * Provokes every alert of `alerts.yml` in a real Prometheus. Each must fire and then resolve, and no page may fire that
 * the test has not provoked.
 *
 * TIME IS SHORTENED: the test uses a copy of the rules in which each window, `offset` and `for` is 20 times shorter.
 * The expressions and their numbers are unchanged, so a limit in seconds (a lag of 60, a job late by 60) is as long as
 * in production. The test itself serves the metrics of node exporter, Patroni, blackbox exporter and the backup drill,
 * and last week's sales. `alerts.chaos.ts` runs three alerts with the unchanged rules.
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { parse } from 'yaml'
import { profileLines } from '../../samples/make-profiles.ts'
import { type Bank, bankAt, range } from '../support/esim.ts'
import { eventually } from '../support/patroni.ts'
import type { PerklineProcess } from '../support/process.ts'
import { type Prometheus, quickened, startMetricsPage, startPrometheus } from '../support/prometheus.ts'
import { requireProgram } from '../support/require-program.ts'
import { openShop } from '../support/world.ts'
import { startStage } from './alert-stage.ts'

const factor = 20
/**
 * The factor for PerklineDatabaseAway. It is smaller, because the alert counts attempts to reach a silent database, and
 * each attempt takes four seconds: in a window 20 times shorter there would be too few.
 */
const awayFactor = 5
const shipped = await readFile(new URL('../../deploy/monitoring/alerts.yml', import.meta.url), 'utf8')
const allNames: string[] = parse(shipped).groups.flatMap(({ rules }: { rules: { alert: string }[] }) =>
  rules.map(({ alert }) => alert),
)
/** `ALERTS=PerklineDown,PerklineSlow` selects alerts; the default is all. */
const chosen = process.env.ALERTS?.split(',') ?? allNames
/**
 * The allowed delay beyond the waiting time of a rule. It covers scrapes, and values that a process reads only every 15
 * seconds.
 */
const graceMs = 60_000
const weekMs = (7 * 86_400_000) / factor
const daySeconds = 86_400
/** The longest wait between probes of an endpoint (contract/webhooks.md, "When"). */
const lastProbeMs = 300_000

/** Returns the metrics of last week's sales: one confirmed order each second. A week is shortened here, too. */
function lastWeek(): string {
  const from = Math.round((Date.now() - weekMs) / 1_000) - 900
  const series =
    'perkline_http_request_seconds_count{method="POST",route="/esim/v1/orders/:orderId/confirm",code="200",instance="then"}'
  return `${range(450)
    .map(step => `${series} ${step * 5} ${from + step * 5}\n`)
    .join('')}# EOF\n`
}

/**
 * Makes orders whose names begin with `slow-` slow to insert, and orders whose names begin with `stuck-` impossible to
 * change.
 */
const faults = `
  create function faulty_order() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' and new.external_id like 'slow-%' then perform pg_sleep(0.8); end if;
    if tg_op = 'UPDATE' and new.external_id like 'stuck-%' then raise exception 'planted'; end if;
    return new;
  end $$;
  create trigger faulty_order before insert or update on orders for each row execute function faulty_order()`

/** Records when the provoked alerts fire and resolve, and collects every page that was not provoked. */
function watch(prometheus: Prometheus) {
  const wanted = new Set<string>()
  const strays = new Set<string>()
  const seen: Record<string, { fires: number; resolves: number }> = {}
  let now: ReadonlyMap<string, string> = new Map()
  let going = true
  const watching = (async () => {
    for (; going && !ended.signal.aborted; await sleep(250)) {
      const alerts = await prometheus.firing()
      if (!alerts) continue
      now = new Map(alerts.map(({ name, labels }) => [name, JSON.stringify(labels)]))
      for (const { name, severity, labels } of alerts)
        if (severity === 'page' && !wanted.has(name))
          strays.add(`${JSON.stringify(labels)} beside ${[...wanted].join(', ')}`)
    }
  })()
  const seconds = (sinceMs: number) => Math.round((performance.now() - sinceMs) / 100) / 10
  return {
    seen,
    strays,
    /**
     * @param takesMs how long the rule waits before its alert fires
     * @param endsMs how long it waits after the cure before the alert resolves; default: a shortened hour
     */
    async bringAbout(
      name: string,
      takesMs: number,
      cause: () => unknown,
      cure: () => unknown,
      endsMs = 3_600_000 / factor,
    ): Promise<void> {
      if (!chosen.includes(name)) return
      await eventually(`${name} is silent`, () => !now.has(name), graceMs)
      wanted.add(name)
      const causedAtMs = performance.now()
      let fires = 0
      let curedAtMs = 0
      try {
        await cause()
        await eventually(`${name} fires`, () => now.has(name), takesMs + graceMs)
        fires = seconds(causedAtMs)
      } finally {
        // Repair the platform even if this alert has not fired, because the test of the next alert needs it.
        curedAtMs = performance.now()
        await cure()
      }
      await eventually(`${name} resolves`, () => !now.has(name), endsMs + graceMs).catch(error => {
        throw new Error(`${error.message}: ${now.get(name)}`)
      })
      seen[name] = { fires, resolves: seconds(curedAtMs) }
      process.stdout.write(`# ${name} ${JSON.stringify(seen[name])}\n`)
      wanted.delete(name)
    },
    async end() {
      going = false
      await watching
    },
  }
}

const ended = new AbortController()
after(() => ended.abort())

/** Repeats the call until `leave` is called or the test has ended. Errors of a call are ignored. */
function repeat(everyMs: number, call: (count: number) => Promise<unknown>) {
  let going = true
  const running = (async () => {
    for (let count = 0; going && !ended.signal.aborted; count++) {
      await Promise.try(call, count).catch(() => null)
      await sleep(everyMs)
    }
  })()
  return {
    async leave() {
      going = false
      await running
    },
  }
}

/** @returns a function that tells whether no alert has fired for 10 seconds */
function isCalm(prometheus: Prometheus): () => Promise<boolean> {
  let sinceMs = performance.now()
  return async () => {
    const alerts = await prometheus.firing()
    if (alerts?.length !== 0) sinceMs = performance.now()
    return performance.now() - sinceMs > 10_000
  }
}

/** Holds a lock on a table, like a schema change whose transaction somebody left open. */
async function holdTable(url: string, table: string, mode: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`begin; lock table ${table} in ${mode} mode`)
  return () => client.end()
}

async function startReceiver(t: TestContext) {
  const receiver = { url: '', status: 204 }
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(receiver.status).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}

test('each alert fires when it is brought about, and no other page, and it resolves', async t => {
  for (const program of ['prometheus', 'promtool', 'faketime']) if (!requireProgram(t, program)) return
  const stage = await startStage(t)
  const { database, at, start, kill } = stage
  const desk = at('desk')
  const { alpha, beta } = await openShop(desk as PerklineProcess, { profiles: 6_000, seed: 7_996 })
  const execute = (sql: string, values: unknown[] = []) => database.database.execute(sql, values)
  await execute(faults)
  const onSale = (tariff: string, isOn: boolean) =>
    execute('update tariffs set on_sale = $2 where code = $1', [tariff, isOn])
  for (const tariff of ['ua-5gb', 'empty', 'world']) await onSale(tariff, false)
  const stock = (count: number, seed: number) =>
    desk.admin('POST', '/profiles?operator=kyivstar&tariff=ua-5gb', [...profileLines({ count, seed })].join(''))

  const shown = {
    verifiedAt: Date.now() / 1_000,
    room: () => 100e9,
    standbys: 1,
    certificateEnds: Date.now() / 1_000 + 90 * daySeconds,
    reached: 1,
    anchoredAt: () => Date.now() / 1_000,
  }
  const page = await startMetricsPage(t, {
    perkline_backup_verified_timestamp_seconds: () => shown.verifiedAt,
    'node_filesystem_avail_bytes{fstype="ext4",mountpoint="/var/lib/postgresql"}': () => shown.room(),
    'node_filesystem_size_bytes{fstype="ext4",mountpoint="/var/lib/postgresql"}': () => 1_000e9,
    'perkline_audit_anchor_written_seconds{instance="anchors"}': () => shown.anchoredAt(),
    'patroni_sync_standby{name="two"}': () => shown.standbys,
    'patroni_postgres_running{name="one"}': () => 1,
    'probe_ssl_earliest_cert_expiry{instance="https://perkline.example"}': () => shown.certificateEnds,
    'probe_success{job="certificate",instance="https://perkline.example"}': () => shown.reached,
  })
  const rules = join(stage.settings.DATA_DIR ?? '', 'alerts.yml')
  await writeFile(rules, quickened(shipped, factor, { PerklineDatabaseAway: awayFactor }))
  const targets = [...stage.ports, page.port]
  const prometheus = await startPrometheus(t, { rules, targets, history: lastWeek() })
  const startedAtMs = performance.now()
  t.diagnostic(
    `TIME IS SHORTENED: windows, offsets and "for" of the rules are ${factor} (PerklineDatabaseAway: ${awayFactor}) times shorter than shipped`,
  )

  const [bank, mailing]: Bank[] = [bankAt(desk, alpha), bankAt(desk, beta)]
  let confirms = true
  repeat(400, async count => {
    const { orderId } = (await (bank as Bank).reserve(`sale-${Date.now()}-${count}`)).body
    await (confirms ? (bank as Bank).confirm(orderId) : (bank as Bank).cancel(orderId))
  })
  await eventually('Prometheus has read all processes, and nothing fires', isCalm(prometheus), 2 * graceMs)
  const { bringAbout, seen, strays, end } = watch(prometheus)

  let leave = async (): Promise<void> => {}
  const keepOn = (everyMs: number, call: (count: number) => Promise<unknown>) => () => {
    leave = repeat(everyMs, call).leave
  }
  const trade = async () => {
    await bringAbout(
      'PerklineErrors',
      30_000,
      async () => {
        const { orderId } = (await (bank as Bank).reserve('stuck-1')).body
        keepOn(300, () => (bank as Bank).cancel(orderId))()
      },
      () => leave(),
    )
    await bringAbout(
      'PerklineSlow',
      45_000,
      keepOn(100, count => (bank as Bank).reserve(`slow-${count}`)),
      () => leave(),
    )
    await bringAbout(
      'PerklineNothingSold',
      90_000,
      () => {
        confirms = false
      },
      () => {
        confirms = true
      },
    )
  }

  let release = async (): Promise<void> => {}
  /** This step must run first. It moves the clock by two days, so any open reservations of other steps would expire. */
  const statements = () =>
    bringAbout(
      'PerklineStatementLate',
      30_000,
      async () => {
        release = await holdTable(database.url, 'statements', 'exclusive')
        await desk.call('POST', '/sandbox/clock', { body: { advance: 'PT50H' } }).catch(() => null)
      },
      () => release(),
    )
  const work = async () => {
    await bringAbout(
      'PerklineJobLate',
      75_000,
      async () => {
        release = await holdTable(database.url, 'reset_requests', 'access exclusive')
      },
      () => release(),
    )
    await bringAbout(
      'PerklineEventsLag',
      75_000,
      () => kill('worker'),
      () => start('worker'),
    )
  }

  const shelf = async () => {
    await bringAbout(
      'PerklineStockOut',
      20_000,
      () => onSale('empty', true),
      () => onSale('empty', false),
    )
    await stock(10, 4_001)
    await onSale('ua-5gb', true)
    await bringAbout(
      'PerklineStockLow',
      45_000,
      async () => {
        for (const count of range(7)) {
          const made = await (bank as Bank).reserve({ tariffCode: 'ua-5gb', externalId: `low-${count}` })
          await (bank as Bank).confirm(made.body.orderId)
        }
      },
      () => stock(100, 4_002),
    )
    await desk.admin('GET', '/audit')
    await bringAbout(
      'PerklineBooksBroken',
      20_000,
      () => execute(`update audit_runs set result = jsonb_set(result::jsonb, '{ok}', 'false')`),
      () => desk.admin('GET', '/audit'),
    )
  }

  const partners = async () => {
    const receiver = await startReceiver(t)
    const call = async (path: string, body: object) => {
      const answer = await desk.call('POST', `/partner/v1/webhook-endpoints${path}`, { token: alpha, body })
      assert.ok(answer.status < 300, answer.text)
      return answer.body
    }
    const { endpointId } = await call('', { url: receiver.url, eventTypes: ['order.*'] })
    await bringAbout(
      'PerklineEndpointFailing',
      30_000,
      () => {
        receiver.status = 500
      },
      () => {
        receiver.status = 204
      },
      // After many failures an endpoint gets only probes, which are this far apart.
      lastProbeMs,
    )
    // The rule compares a value with that of an hour ago (here three minutes), so wait until there are values that old.
    await eventually('there is an hour before', () => performance.now() - startedAtMs > 3_700_000 / factor, 300_000)
    await bringAbout(
      'PerklineEndpointDisabled',
      120_000,
      () => {
        receiver.status = 410
      },
      async () => {
        receiver.status = 204
        await call(`/${endpointId}/enable`, {})
      },
    )
  }

  const mails = () =>
    bringAbout(
      'PerklineMailFailing',
      90_000,
      async () => {
        stage.smtp.behave({ rcpt: { refuse: 550 } })
        for (const count of range(40)) {
          const { orderId } = (await (mailing as Bank).reserve(`mail-${count}`)).body
          await (mailing as Bank).confirm(orderId, 'anna@mail.example')
          await sleep(300)
        }
      },
      () => stage.smtp.behave({}),
    )

  const guesses = async () => {
    const guessing = () =>
      Promise.all(
        range(3).map(() =>
          desk.call('POST', '/getToken/auth', {
            body: { clientId: crypto.randomUUID(), secret: 'x'.repeat(43) },
          }),
        ),
      )
    let stop = async (): Promise<void> => {}
    await bringAbout(
      'PerklineTokenGuessing',
      75_000,
      () => {
        stop = repeat(400, guessing).leave
      },
      () => stop(),
    )
  }

  const others = async () => {
    const set = (change: Partial<typeof shown>) => () => Object.assign(shown, change)
    const now = Date.now() / 1_000
    await bringAbout('PerklineStandbyMissing', 15_000, set({ standbys: 0 }), set({ standbys: 1 }))
    await bringAbout(
      'PerklineRestoreUnproven',
      1_000,
      set({ verifiedAt: now - 8.1 * daySeconds }),
      set({ verifiedAt: now }),
    )
    await bringAbout(
      'PerklineCertificateEnds',
      30_000,
      set({ certificateEnds: now + 13 * daySeconds }),
      set({ certificateEnds: now + 90 * daySeconds }),
    )
    await bringAbout(
      'PerklineAnchorsMissing',
      1_000,
      set({ anchoredAt: () => now - 3 * 3_600 }),
      set({ anchoredAt: () => Date.now() / 1_000 }),
    )
    await bringAbout('PerklineUnreachable', 15_000, set({ reached: 0 }), set({ reached: 1 }))
    const fellAtMs = Date.now()
    await bringAbout(
      'PerklineDiskFilling',
      120_000,
      set({ room: () => 100e9 - (Date.now() - fellAtMs) * 200_000 }),
      set({ room: () => 900e9 }),
    )
  }
  const away = () =>
    bringAbout(
      'PerklineDatabaseAway',
      60_000,
      () => stage.proxy.fallSilent(),
      () => stage.proxy.speakAgain(),
    )
  const clocks = () =>
    bringAbout(
      'PerklineClockApart',
      30_000,
      () => stage.setClock('+5'),
      () => stage.setClock('+0'),
    )

  const first = await Promise.allSettled([statements()])
  const lanes = await Promise.allSettled([
    trade(),
    work(),
    shelf(),
    partners(),
    mails(),
    guesses(),
    others(),
    clocks(),
    away(),
  ])
  const faultsSeen = [...first, ...lanes].flatMap(lane => (lane.status === 'rejected' ? [String(lane.reason)] : []))

  await bringAbout(
    'PerklineDown',
    3_000,
    () => Promise.all(stage.names.map(kill)),
    () => Promise.all(stage.names.map(start)),
  ).catch(error => faultsSeen.push(String(error)))
  await end()
  t.diagnostic(JSON.stringify(seen))
  assert.deepEqual(faultsSeen, [])
  assert.deepEqual([...strays], [])
  assert.deepEqual(Object.keys(seen).sort(), [...chosen].sort())
})
