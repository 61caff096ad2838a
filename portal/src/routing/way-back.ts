/** Where a login comes from and leads to. */
import { type AccountType, areaOf } from '../session/session.ts'

/** What the login keeps of where somebody was; the start page needs no mention: one gets there anyway. */
export const wayBack = (href: string): string | undefined =>
  href === '/' || href.startsWith('/login') ? undefined : href

/** Back to where somebody was, if that is a page of theirs; otherwise to their first page. */
export function placeAfterLogin(typeAccount: AccountType, back: string | undefined): string {
  const area = areaOf[typeAccount]
  return back?.startsWith(area) && /^(?:[/?]|$)/.test(back.slice(area.length)) ? back : area
}
