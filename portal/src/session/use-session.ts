import { useRouteContext } from '@tanstack/react-router'
import { mayChange } from './rights.ts'
import type { Session } from './session.ts'

/** Who is logged in, on pages that only people who are logged in get to see; the same until such a page is left. */
export const useSession = (): Session => useRouteContext({ from: '/signed-in', select: ({ session }) => session })

export const useMayChange = (): boolean => mayChange(useSession())
