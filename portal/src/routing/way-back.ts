/** Remembers the page from which somebody came to the login, and leads back to it. */
import { type AccountType, areaOf } from '../session/session.ts'

/**
 * The address to return to after the login. It is undefined for the start page (the default) and for the login page.
 */
export const wayBack = (href: string): string | undefined =>
  href === '/' || href.startsWith('/login') ? undefined : href

/** The account's own pages. Each kind of account has them. */
const accountArea = '/account'

/** Goes back to the previous page if it belongs to the person's area; otherwise to the person's first page. */
export function placeAfterLogin(typeAccount: AccountType, back: string | undefined): string {
  const area = areaOf[typeAccount]
  const isOwn = (own: string) => back?.startsWith(own) && /^(?:[/?]|$)/.test(back.slice(own.length))
  return back !== undefined && (isOwn(area) || isOwn(accountArea)) ? back : area
}
