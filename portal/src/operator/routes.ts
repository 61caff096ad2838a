/** The addresses of the operator's pages, what each reads from its address, and where its code is. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { onlyFor, signedInRoute } from '../app/base-routes.ts'

const operatorRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/operator',
  beforeLoad: onlyFor('platform'),
})

const home = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home.tsx'), 'HomePage'),
})

export const operatorRoutes = operatorRoute.addChildren([home])
