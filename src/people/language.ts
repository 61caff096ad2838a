/** The language in which the platform writes to a person (contract/people.md, "Mails"). */
import { type PersonLanguage, saveLanguage } from '../access/shown-names-store.ts'
import type { Origin } from '../audit-log/origin.ts'
import { recordEntries } from '../audit-log/recording.ts'
import type { Database } from '../db/database.ts'
import { userObject } from './managers.ts'

/** Chooses the language. The same language again changes nothing. */
export async function chooseLanguage(
  { database, origin }: { database: Database; origin: Origin },
  userId: string,
  language: PersonLanguage,
): Promise<void> {
  await database.transaction(async transaction => {
    const before = await saveLanguage(transaction, userId, language)
    if (before === undefined) return
    const change = { language: [before, language] } as const
    await recordEntries(transaction, origin, [{ action: 'user.changed', object: userObject(userId), change }])
  })
}
