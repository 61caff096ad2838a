/** The tree of all pages, and its router. */
import type { QueryClient } from '@tanstack/react-query'
import { type AnyRoute, createRoute, createRouter } from '@tanstack/react-router'
import { accountRoutes } from '../account/routes.ts'
import { bankRoutes } from '../bank/routes.ts'
import { merchantRoutes } from '../merchant/routes.ts'
import { operatorRoutes } from '../operator/routes.ts'
import { rootRoute, signedInRoute } from '../routing/base-routes.ts'
import { lazyPage } from '../routing/lazy-page.ts'
import { parseSearch, stringifySearch } from '../routing/search.ts'
import { heardOfKey, lastHeardOf, type Session, sessionQuery } from '../session/session.ts'
import { forgottenRoute, homeRoute, joinRoute, loginRoute } from './entry-routes.ts'
import { ErrorPage, NotFoundPage, PendingPage } from './error-pages.tsx'

/** The page "not found" for an unknown address. It is shown within the frame, so that people have the navigation. */
const unknownRoute = createRoute({ getParentRoute: () => signedInRoute, path: '$', component: NotFoundPage })

signedInRoute.update({ component: lazyPage(() => import('./layout.tsx'), 'Layout') })

const routeTree = rootRoute.addChildren([
  loginRoute,
  joinRoute,
  forgottenRoute,
  signedInRoute.addChildren([homeRoute, accountRoutes, merchantRoutes, bankRoutes, operatorRoutes, unknownRoute]),
])

export const createPortalRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    basepath: '/app',
    context: { queryClient },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    // The router keeps no preloaded data, because the query client caches it.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    defaultPendingComponent: PendingPage,
  })

type PortalRouter = ReturnType<typeof createPortalRouter>

/**
 * Loads everything that the first page needs at the same time: the session, the code of the page (or of the login), and
 * the page's data. Otherwise these requests would follow one another. Failed requests are repeated by the page, which
 * also shows the error.
 *
 * @returns a promise that settles once the page's data has arrived or cannot be loaded
 */
export async function loadAhead(router: PortalRouter, queryClient: QueryClient): Promise<void> {
  const loadCode = (route: AnyRoute) => router.loadRouteChunk(route)?.catch(() => {})
  if (localStorage.getItem(heardOfKey) === null) return void loadCode(loginRoute)
  const asked = queryClient.fetchQuery(sessionQuery).catch(() => null)
  const matches = router.matchRoutes(router.latestLocation)
  for (const route of router.getMatchedRoutes(router.latestLocation.pathname)[0]) void loadCode(route)
  const reader = lastHeardOf() ?? (await asked)
  if (!reader) return
  await Promise.all(
    matches.map(({ staticData: { ahead }, search }) =>
      ahead?.isFor(reader) ? ahead.read(queryClient, search as never) : undefined,
    ),
  )
}

declare module '@tanstack/react-router' {
  interface Register {
    router: PortalRouter
  }
  interface StaticDataRouteOption {
    /** Starts the page's requests before its code is loaded, but only for people who may make them. */
    ahead?: {
      isFor(reader: Pick<Session, 'typeAccount' | 'role'>): boolean
      read(queryClient: QueryClient, search: never): Promise<unknown>
    }
  }
}
