/** Remembers the page from which somebody came to the login, and leads back to it. */
import { type AccountType, areaOf } from '../session/session.ts'

/** The address to return to. The start page is left out, because it is the default. */
export const wayBack = (href: string): string | undefined =>
  href === '/' || href.startsWith('/login') ? undefined : href

/** Goes back to the previous page if it belongs to the person's area; otherwise to the person's first page. */
export function placeAfterLogin(typeAccount: AccountType, back: string | undefined): string {
  const area = areaOf[typeAccount]
  return back?.startsWith(area) && /^(?:[/?]|$)/.test(back.slice(area.length)) ? back : area
}
