/**
 * Limits how often the settings of an account change: its security policy, webhook endpoints, people and credentials. Also limits how
 * often people change their own language. The audit log keeps an entry about each change for years, and every process has to read each
 * ended secret (contract/limits.md, "Requests").
 */
import type { Origin } from '../outbox/origin.ts'
import type { RecordedAccount } from '../outbox/rows.ts'
import { countIn } from '../work/counting.ts'
import type { createLocalCounter } from '../work/local-counter.ts'

const changesPerHour = 300
const languageChangesPerHour = 60

/**
 * Counts a change of an account's settings. The platform, the account's people and its systems are counted separately,
 * so that none of them can use up the limit of another. Call it before taking locks, because the counter may be in
 * Redis. For this reason, a change that is refused later counts, too.
 *
 * @param origin who makes the change
 * @param owner the account whose settings are changed
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
