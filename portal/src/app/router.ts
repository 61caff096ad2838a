/** All pages in one tree, and the router that walks it. */
import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { bankRoutes } from '../bank/routes.ts'
import { merchantRoutes } from '../merchant/routes.ts'
import { operatorRoutes } from '../operator/routes.ts'
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

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPortalRouter>
  }
}
