/**
 * Limits how often an account changes its security policy, its webhook endpoints and its people, and issues or rotates credentials, and
 * how often a person changes the own language. Each change leaves an entry in the audit log for years, and each ended secret is read by
 * every process (contract/limits.md, "Requests").
 */
import type { Origin } from '../audit-log/origin.ts'
import type { RecordedAccount } from '../events/outbox.ts'
import { countIn } from '../work/counting.ts'
import type { createLocalCounter } from '../work/local-counter.ts'

const changesPerHour = 300
const languageChangesPerHour = 60

/**
 * Counts a change of an account's settings. What the platform, the account's people and its systems do counts apart, so that none
 * can use up the changes of the others. Call it before locks are taken, because the counter may be in Redis. So a change
 * that is refused afterwards counts, too.
 *
 * @param origin who makes the change
 * @param owner the account whose settings they are
 * @throws DomainError 'too-many' beyond 300 within an hour
 */
export type CountSettingsChange = (origin: Pick<Origin, 'account' | 'actor'>, owner: RecordedAccount) => Promise<void>

/** @param create makes a counter that all processes share */
export function createSettingsLimit(create: typeof createLocalCounter): CountSettingsChange {
  const counter = create('settings', changesPerHour, 3_600)
  const text = 'The account has changed its security policy, people, endpoints and credentials too often; wait a while'
  return ({ account, actor }, owner) =>
    countIn(counter, [account.type, account.id, actor.type, owner.type, owner.id].join(':'), text)
}

/** Counts a change of a person's own language. @throws DomainError 'too-many' beyond 60 within an hour */
export type CountLanguageChange = (userId: string) => Promise<void>

/** @param create makes a counter that all processes share */
export function createLanguageLimit(create: typeof createLocalCounter): CountLanguageChange {
  const counter = create('language', languageChangesPerHour, 3_600)
  return userId => countIn(counter, userId, 'You have changed the language too often; wait a while')
}
