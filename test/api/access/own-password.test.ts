/**
 * A person sends their own correct password again and again (contract/people.md, "Second factors"). In this folder,
 * checking a password takes as long as in production.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { countWaiting } from '../../../src/work/concurrency-limit.ts'
import { openPerson } from '../../support/people.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(() => platform.close())

test('a person who sends the own right password again and again waits for their turn', async () => {
  const person = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
  const body = { method: 'password', code: person.password }
  const proofs = Array.from({ length: 120 }, () => person.call('POST', '/portal/session/verify', body))
  const changes = Array.from({ length: 120 }, () =>
    person.call('POST', '/portal/password', { current: person.password, password: 'short' }),
  )
  const count = (answers: Answer[], status: number) => answers.filter(answer => answer.status === status).length
  const [proven, changed] = [await Promise.all(proofs), await Promise.all(changes)]
  assert.equal(count(proven, 200) + count(proven, 503), proven.length)
  for (const answers of [proven, changed]) assert.ok(count(answers, 503) > 0)
  assert.equal(proven.find(({ status }) => status === 503)?.body.code, 'unavailable')
})

test('by whichever way a person sends it, one password is checked at a time, and 100 wait in all', async () => {
  const person = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
  const before = countWaiting().get('others') ?? 0
  const ways = [
    () => person.call('POST', '/portal/session/verify', { method: 'password', code: person.password }),
    () => person.call('POST', '/portal/password', { current: person.password, password: 'short' }),
    () => platform.call('POST', '/portal/invitations/accept', { body: { token: 'x', password: person.password } }),
  ]
  let answered = 0
  const answers = ways.flatMap(send =>
    Array.from({ length: 90 }, async () => {
      const { status } = await send()
      answered++
      return status
    }),
  )
  let most = 0
  for (; answered < answers.length; await sleep(1)) most = Math.max(most, (countWaiting().get('others') ?? 0) - before)
  await Promise.all(answers)
  assert.ok(most <= 100, `${most} waited`)
})

test('with different Idempotency-Keys, such requests hold connections to the database only while it is their turn', async () => {
  const person = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
  let answered = 0
  const changes = Array.from({ length: 20 }, async (_, index) => {
    const headers = { 'idempotency-key': `turn-${index}` }
    const body = { current: person.password, password: 'short' }
    await person.call('POST', '/portal/password', body, headers)
    answered++
  })
  const held: number[] = []
  while (answered < changes.length) {
    const [row] = await platform.platform.database.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and state = 'idle in transaction' and xact_start < clock_timestamp() - interval '20 ms'`,
    )
    held.push(row?.count ?? 0)
  }
  await Promise.all(changes)
  // On a busy machine more transactions may be idle for a moment, so only the median of all samples is checked.
  const median = held.toSorted((one, other) => one - other)[held.length >> 1] ?? 0
  assert.ok(median <= 1, `${held}`)
})
