import { useRouteContext } from '@tanstack/react-router'
import { mayChange } from './rights.ts'
import type { Session } from './session.ts'

/**
 * The session, for pages that only logged-in people can open. It does not change while the person stays on these pages.
 */
export const useSession = (): Session => useRouteContext({ from: '/signed-in', select: ({ session }) => session })

export const useMayChange = (): boolean => mayChange(useSession())
