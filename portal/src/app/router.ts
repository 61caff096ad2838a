/** All pages in one tree, and the router that walks it. */
import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { bankRoutes } from '../bank/routes.ts'
import { merchantRoutes } from '../merchant/routes.ts'
import { operatorRoutes } from '../operator/routes.ts'
import { heardOfKey, sessionQuery } from '../session/session.ts'
import { homeRoute, loginRoute, rootRoute, signedInRoute } from './base-routes.ts'
import { FaultPage, NotFoundPage, PendingPage } from './fault-pages.tsx'
import { parseSearch, stringifySearch } from './search.ts'

const routeTree = rootRoute.addChildren([
  loginRoute,
  signedInRoute.addChildren([homeRoute, merchantRoutes, bankRoutes, operatorRoutes]),
])

export const createPortalRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    basepath: '/app',
    context: { queryClient },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    // What is loaded ahead is kept by the query client, not by the router.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultErrorComponent: FaultPage,
    defaultNotFoundComponent: NotFoundPage,
    defaultPendingComponent: PendingPage,
  })

type PortalRouter = ReturnType<typeof createPortalRouter>

/**
 * What the first page needs is fetched all at once: who this is, and the code of the page (or of the login), which the router would
 * ask for only one after the other. What fails here the router asks for again, and tells.
 */
export function loadAhead(
  { latestLocation, getMatchedRoutes, loadRouteChunk }: PortalRouter,
  queryClient: QueryClient,
) {
  if (localStorage.getItem(heardOfKey) === null) return void loadRouteChunk(loginRoute)?.catch(() => {})
  void queryClient.prefetchQuery(sessionQuery)
  const [matchedRoutes] = getMatchedRoutes(latestLocation.pathname)
  for (const route of matchedRoutes) loadRouteChunk(route)?.catch(() => {})
}

declare module '@tanstack/react-router' {
  interface Register {
    router: PortalRouter
  }
}
