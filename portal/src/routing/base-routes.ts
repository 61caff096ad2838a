/** The routes that hold all others: the root, the login, and everything for which somebody must be logged in. */
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, notFound, redirect } from '@tanstack/react-router'
import { type AccountType, areaOf, sessionQuery } from '../session/session.ts'
import { lazyPage } from './lazy-page.ts'
import { oneOf, searchParams, text } from './search.ts'
import { placeAfterLogin, wayBack } from './way-back.ts'

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()()

/** Where to go afterwards, and why somebody is here. */
const loginSearch = searchParams({ back: text, because: oneOf(['ended', 'left']) })

export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: loginSearch,
  beforeLoad: async ({ context, search }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (session) throw redirect({ href: placeAfterLogin(session.typeAccount, search.back), replace: true })
  },
  component: lazyPage(() => import('../app/login-page.tsx'), 'LoginPage'),
})

/** The link of an invitation, or to a new password: it counts whoever is logged in here. */
export const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/join',
  component: lazyPage(() => import('../app/join-page.tsx'), 'JoinPage'),
})

export const forgottenRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgotten',
  component: lazyPage(() => import('../app/forgotten-page.tsx'), 'ForgottenPage'),
})

export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (!session) throw redirect({ to: '/login', search: { back: wayBack(location.href) }, replace: true })
    return { session }
  },
  component: lazyPage(() => import('../app/layout.tsx'), 'Layout'),
})

export const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  beforeLoad: ({ context }) => {
    throw redirect({ to: areaOf[context.session.typeAccount], replace: true })
  },
})

/** For the `beforeLoad` of an area's first route: to people of another kind of account its pages say that they are not for them. */
export const onlyFor =
  (typeAccount: AccountType) =>
  ({ context }: { context: { session: { typeAccount: AccountType } } }): void => {
    if (context.session.typeAccount !== typeAccount) throw notFound({ data: forbidden })
  }

/** Why there is no such page for somebody. */
export const forbidden = 'forbidden'
