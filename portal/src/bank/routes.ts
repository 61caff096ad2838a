/** The addresses of the bank's pages, what each reads from its address, and where its code is. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { onlyFor, signedInRoute } from '../app/base-routes.ts'

const bankRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/bank',
  beforeLoad: onlyFor('bank'),
})

const home = createRoute({
  getParentRoute: () => bankRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home.tsx'), 'HomePage'),
})

export const bankRoutes = bankRoute.addChildren([home])
