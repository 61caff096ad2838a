/** The language in which the platform writes to a person (contract/people.md, "Mails"). */
import type { CountLanguageChange } from '../access/settings-limit.ts'
import { findLanguage, type PersonLanguage, saveLanguage } from '../access/shown-names-store.ts'
import type { Database } from '../db/database.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import type { Origin } from '../outbox/origin.ts'
import { userObject } from './managers.ts'

/** Chooses the language. The same language again changes nothing. @throws DomainError 'too-many' after too many changes */
export async function chooseLanguage(
  {
    database,
    origin,
    countLanguageChange,
  }: { database: Database; origin: Origin; countLanguageChange: CountLanguageChange },
  userId: string,
  language: PersonLanguage,
): Promise<void> {
  if ((await findLanguage(database, userId)) === language) return
  await countLanguageChange(userId)
  await database.transaction(async transaction => {
    const before = await saveLanguage(transaction, userId, language)
    if (before === undefined) return
    const change = { language: [before, language] } as const
    await recordEntries(transaction, origin, [{ action: 'user.changed', object: userObject(userId), change }])
  })
}
