/**
 * Access that is taken away ends in every process within 10 s, even while requests are under way (contract/people.md,
 * "People").
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openPerson, type Person } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type PerklineProcess, startProcess } from '../support/process.ts'

const limitMs = 10_000
const askers = 2
let platform: TestPlatform
let other: PerklineProcess
let folder: string
let manager: Person
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-access-'))
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
  other = await startProcess({
    DATABASE_URL: platform.databaseUrl,
    DATA_DIR: folder,
    PERKLINE_MODE: 'sandbox',
    MASTER_KEY: platform.config.masterKeys[0]?.toString('base64') ?? '',
    OPERATOR_KEY: platform.config.operatorKey,
    TRUSTED_PROXIES: '127.0.0.1',
    RATE_LIMIT: '0',
    API_RATE_LIMIT: '0',
    LOG_LEVEL: 'warn',
  })
  manager = await openPerson(platform, { merchant: 'grocer' }, 'admin_user')
})
after(async () => {
  await other.stop()
  await platform.close()
  await rm(folder, { recursive: true, force: true })
})

const home = { 'x-forwarded-for': '203.0.113.5' }

/**
 * Sends requests to both processes without a pause, takes the access away, and stops some seconds after the limit.
 * @returns the statuses of the requests that began after the limit
 */
async function lateAnswers(token: string, takeAway: () => Promise<unknown>): Promise<Set<number>> {
  const ask = async (at: Pick<TestPlatform, 'call'>) =>
    (await at.call('GET', '/cashbacks/for-merchant', { token, headers: home })).status
  for (const at of [platform, other]) assert.equal(await ask(at), 200, 'it works until then')
  let takenAt = Number.POSITIVE_INFINITY
  let isOver = false
  const late = new Set<number>()
  const asking = [platform, other].flatMap(at =>
    Array.from({ length: askers }, async () => {
      while (!isOver) {
        const isLate = performance.now() - takenAt > limitMs
        const status = await ask(at)
        if (isLate) late.add(status)
      }
    }),
  )
  await takeAway()
  takenAt = performance.now()
  await wait(limitMs + 2_000)
  isOver = true
  await Promise.all(asking)
  return late
}

test('role changed, person disabled, session ended, address removed: nothing but refusals 10 s later', async () => {
  const people = await Promise.all(
    Array.from({ length: 4 }, () => openPerson(platform, { merchant: 'grocer' }, 'editor')),
  )
  const [demoted, disabled, ended] = people as [Person, Person, Person, Person]
  const outsider = await openPerson(platform, { merchant: 'voltshop' }, 'editor')
  const neighbour = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
  const change = (person: Person, body: object) => manager.call('PATCH', `/portal/users/${person.userId}`, body)
  const addresses = { people: ['192.0.2.0/24'], systems: [] }
  const policy = { mfa: 'optional', sessionMinutes: 120, addresses, force: true }
  const results = await Promise.all([
    lateAnswers(demoted.token, () => change(demoted, { role: 'viewer' })),
    lateAnswers(disabled.token, () => change(disabled, { disabled: true })),
    lateAnswers(ended.token, () => ended.call('DELETE', '/portal/session')),
    lateAnswers(outsider.token, () => neighbour.call('PUT', '/portal/security-policy', policy)),
  ])
  assert.deepEqual(
    results.map(late => [...late]),
    [[401], [401], [401], [403]],
  )
})
