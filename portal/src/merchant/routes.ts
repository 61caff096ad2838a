/** The addresses of the merchant's pages, what each reads from its address, and where its code is. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { onlyFor, signedInRoute } from '../app/base-routes.ts'

const merchantRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/merchant',
  beforeLoad: onlyFor('retailer'),
})

const home = createRoute({
  getParentRoute: () => merchantRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home.tsx'), 'HomePage'),
})

export const merchantRoutes = merchantRoute.addChildren([home])
