/** The base routes: the root, and the parent of all pages for logged-in people. */
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, notFound, redirect } from '@tanstack/react-router'
import { type AccountType, sessionQuery } from '../session/session.ts'
import { wayBack } from './way-back.ts'

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()()

/** The parent of all pages for logged-in people. `app/router.ts` gives it its component, the frame around each page. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (!session) throw redirect({ to: '/login', search: { back: wayBack(location.href) }, replace: true })
    return { session }
  },
})

/** For the `beforeLoad` of an area's first route: people with another kind of account see that they have no access. */
export const onlyFor =
  (typeAccount: AccountType) =>
  ({ context }: { context: { session: { typeAccount: AccountType } } }): void => {
    if (context.session.typeAccount !== typeAccount) throw notFound({ data: forbidden })
  }

/** Why the person cannot see a page. */
export const forbidden = 'forbidden'
