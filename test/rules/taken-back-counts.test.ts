/** What is refused because of others does not count for a link, or for an address (contract/limits.md, "Requests"). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import { createLinkConflicts, createWrongCodes } from '../../src/access/throttle.ts'
import { DomainError } from '../../src/errors.ts'
import { createLocalCounter } from '../../src/work/local-counter.ts'

const tooMany = { name: 'DomainError', code: 'too-many' }
const conflict = async () => {
  throw new DomainError('conflict', 'taken')
}

test('a link that is refused because of its account’s other links works once these are forgotten', async () => {
  let counter: RateLimiterAbstract | undefined
  const conflicts = createLinkConflicts((points, seconds) => {
    counter = createLocalCounter('taken-back-links', points, seconds)
    return counter
  })
  const accountId = 'account'
  const ask = (invitationId: string, attempt: () => Promise<unknown> = conflict) =>
    conflicts.guard({ invitationId, accountId }, attempt)
  for (const link of ['one', 'two', 'three'])
    for (let time = 0; time < 10; time++) await assert.rejects(ask(link), { code: 'conflict' })
  for (let time = 0; time < 20; time++)
    await assert.rejects(
      ask('four', async () => 'joined'),
      tooMany,
    )
  await counter?.delete(accountId)
  assert.equal(await ask('four', async () => 'joined'), 'joined')
  await assert.rejects(ask('one'), tooMany, 'its own conflicts still count')
})

test('an address that is refused because of guesses elsewhere has all its tries once it is known', async () => {
  const known = new Set<string>()
  const codes = createWrongCodes(
    (name, ...limit) => createLocalCounter(`taken-back-${name}`, ...limit),
    async (_, address) => known.has(address),
  )
  const guess = (address: string, isRight = false) => codes.guard(address, 'person', async () => isRight)
  for (let stranger = 1; stranger <= 10; stranger++)
    for (let time = 0; time < 10; time++) assert.equal(await guess(`192.0.2.${stranger}`), false)
  for (let time = 0; time < 20; time++) await assert.rejects(guess('198.51.100.1', true), tooMany)
  known.add('198.51.100.1')
  for (let time = 0; time < 9; time++) assert.equal(await guess('198.51.100.1'), false)
  assert.equal(await guess('198.51.100.1', true), true)
})
