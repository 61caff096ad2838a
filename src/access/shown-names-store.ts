/** Reads the names that the portal shows for a caller, and sets the language of a person's mails. */

import type { Caller } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import { isUuid } from '../text/uuid.ts'

/**
 * The login of a person or the clientId of a credential, and the names of the bank or merchant, which are null for the
 * platform.
 */
export type AccountNames = { login: string; name: string | null; nameEn: string | null }

/** Finds the names of the caller's account. @returns null when the user or credential no longer exists */
export async function findNames(database: Queryable, caller: Caller): Promise<AccountNames | null> {
  if (caller.userType === 'portal_user' && !isUuid(caller.subject)) return null
  const [row] = await database.query<AccountNames>(
    caller.userType === 'portal_user'
      ? `select u.login, coalesce(b.name, m.name) as name, m.name_en as "nameEn"
         from portal_users u left join banks b using (bank_id) left join merchants m using (merchant_id)
         where u.user_id = $1`
      : `select c.client_id as login, coalesce(b.name, m.name) as name, m.name_en as "nameEn"
         from credentials c left join banks b using (bank_id) left join merchants m using (merchant_id)
         where c.client_id = $1`,
    [caller.subject],
  )
  return row ?? null
}

export type PersonLanguage = 'uk' | 'en'

/** The language of mails to a person; null when none was chosen, or the person does not exist. */
export async function findLanguage(database: Queryable, userId: string): Promise<PersonLanguage | null> {
  const [person] = await database.query<{ language: PersonLanguage | null }>(
    'select language from portal_users where user_id = $1',
    [userId],
  )
  return person?.language ?? null
}

/**
 * Sets the language of mails to a person.
 *
 * @returns the previous language, which is null when none was chosen; undefined when nothing was changed
 */
export async function saveLanguage(
  database: Queryable,
  userId: string,
  language: PersonLanguage,
): Promise<PersonLanguage | null | undefined> {
  const [changed] = await database.query<{ before: PersonLanguage | null }>(
    `update portal_users u set language = $2
     from (select user_id, language as before from portal_users where user_id = $1 for update) as known
     where u.user_id = known.user_id and known.before is distinct from $2
     returning known.before`,
    [userId, language],
  )
  return changed?.before
}
