import { useRouteContext } from '@tanstack/react-router'
import { mayChange } from './rights.ts'
import type { Session } from './session.ts'

/** The session, on pages that only logged-in people can open. It does not change until such a page is left. */
export const useSession = (): Session => useRouteContext({ from: '/signed-in', select: ({ session }) => session })

export const useMayChange = (): boolean => mayChange(useSession())
