/**
 * How processes learn who has lost access (contract/access.md, "Losing access"): each reads what has changed since its
 * last read.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueCredential, rotateCredential } from '../../../src/access/operations.ts'
import { listenerName } from '../../../src/db/versions.ts'
import { range } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { rowsReadBy } from '../../support/table-reads.ts'

/** The time limit that the contract promises. */
const lostWithinMs = 10_000

let platform: TestPlatform
let sibling: TestPlatform
let database: TestPlatform['platform']['database']
before(async () => {
  platform = await startPlatform()
  sibling = await platform.sibling()
  database = platform.platform.database
})
after(async () => {
  await sibling.close()
  await platform.close()
})

type Issued = { clientId: string; secret: string; token: string }

async function issue(): Promise<Issued> {
  const credential = await issueCredential({ database }, { partner: { bank: 'alpha' }, role: 'ADMIN', label: 'test' })
  const { body } = await platform.call('POST', '/getToken/auth', { body: credential })
  return { ...credential, token: body.access_token }
}

const statusOf = async ({ token }: Issued, at: TestPlatform) =>
  (await at.call('GET', '/esim/v1/operators', { token })).status

async function assertWorks(...credentials: Issued[]): Promise<void> {
  for (const credential of credentials)
    for (const at of [platform, sibling]) assert.equal(await statusOf(credential, at), 200)
}

/** Waits until both processes refuse a token with 401. */
async function assertLost(credential: Issued, sinceMs = performance.now()): Promise<void> {
  for (const at of [platform, sibling])
    while ((await statusOf(credential, at)) !== 401) {
      assert.ok(performance.now() - sinceMs < lostWithinMs, 'access is not lost within 10 seconds')
      await sleep(20)
    }
}

/** Revokes a credential as a process of an older version does, and without a notification. */
const revoking = (clientId: string) => `update credentials set revoked_at = now() where client_id = '${clientId}'`

test('many changes at once cause no additional reads when many secrets have ended within two hours', async () => {
  const ended = 4_000
  const { clientId } = await issue()
  await database.execute(
    `insert into ended_secrets (secret_id, client_id, ends_at)
     select 'ended-' || n, $1, now() - interval '1 minute' from generate_series(1, $2::int) n`,
    [clientId, ended],
  )
  await sleep(3_000)
  const changes = 40
  const read = await rowsReadBy(platform, 'ended\\_%', async there => {
    const answers = await Promise.all(
      range(changes).map(async () => {
        const { body } = await there.call('POST', '/admin/credentials', {
          token: there.config.operatorKey,
          body: { bank: 'alpha', role: 'VIEWER', label: 'one of many' },
        })
        return there.call('POST', `/admin/credentials/${body.clientId}/rotate`, {
          token: there.config.operatorKey,
          body: { overlap: 'PT0S' },
        })
      }),
    )
    for (const { status, text } of answers) assert.equal(status, 200, text)
  })
  assert.ok(
    read < 5 * ended,
    `${read} rows were read: a process reads all of them when it starts, and then only new ones`,
  )
})

test('a change that is committed after a later one is not missed', async () => {
  const [first, second, third] = [await issue(), await issue(), await issue()]
  await assertWorks(first, second, third)
  const late = await database.connect()
  try {
    await late.query('begin')
    await late.query(revoking(first.clientId))
    await database.execute(revoking(second.clientId))
    await assertLost(second)
    await assertWorks(first)
    await late.query('set constraints all immediate')
    const revoked = database.execute(revoking(third.clientId))
    await sleep(2_500)
    await late.query('commit')
    const committedMs = performance.now()
    await revoked
    await assertLost(first, committedMs)
    await assertLost(third, committedMs)
  } finally {
    await late.end()
  }
})

test('a secret ends with its overlap, and no earlier; a shorter overlap replaces a longer one', async () => {
  const [short, replaced] = [await issue(), await issue()]
  await rotateCredential({ database }, { clientId: short.clientId, overlapMs: 4_000 })
  const endsAtMs = performance.now() + 4_000
  const { secret } = await rotateCredential({ database }, { clientId: replaced.clientId, overlapMs: 3_600_000 })
  await sleep(2_500)
  await assertWorks(short, replaced)
  await sleep(endsAtMs - performance.now())
  await assertLost(short, endsAtMs)
  await assertWorks(replaced)
  await rotateCredential({ database }, { clientId: replaced.clientId, overlapMs: 3_600_000 })
  await assertLost(replaced)
  const second = await platform.call('POST', '/getToken/auth', { body: { clientId: replaced.clientId, secret } })
  await assertWorks({ ...replaced, token: second.body.access_token })
})

test('after a failover that lost the newest changes, these have no effect, and later changes are not missed', async () => {
  const [before, later] = [await issue(), await issue()]
  await database.execute(revoking(before.clientId))
  await assertLost(before)
  // Simulates a new primary that has not received the last changes, so it assigns their numbers again.
  await database.execute('alter table credentials disable trigger credentials_note_end')
  await database.execute(`update credentials set revoked_at = null where client_id = '${before.clientId}'`)
  await database.execute('alter table credentials enable trigger credentials_note_end')
  await database.execute('delete from ended_access')
  await database.execute('alter table ended_access alter column number restart with 1')
  await database.execute('delete from ended_tokens')
  await database.execute('alter table ended_tokens alter column number restart with 1')
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${listenerName}' and datname = current_database()`,
  )
  await database.execute(revoking(later.clientId))
  await assertLost(later)
  await assertWorks(before)
})
