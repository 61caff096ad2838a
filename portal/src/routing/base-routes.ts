/** The base routes: the root, the pages without a login, and the parent of all pages for logged-in people. */
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, notFound, redirect } from '@tanstack/react-router'
import { type AccountType, areaOf, sessionQuery } from '../session/session.ts'
import { lazyPage } from './lazy-page.ts'
import { oneOf, searchParams, text } from './search.ts'
import { placeAfterLogin, wayBack } from './way-back.ts'

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()()

/** Where to go after the login, and why the person was sent to the login page. */
const loginSearch = searchParams({
  back: text,
  because: oneOf(['ended', 'endedWithInput', 'left', 'leftHereOnly', 'leftElsewhere']),
})

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

/** The page for links in invitations and password mails. It is the same for logged-in people and for others. */
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

/** For the `beforeLoad` of an area's first route: people with another kind of account see that they have no access. */
export const onlyFor =
  (typeAccount: AccountType) =>
  ({ context }: { context: { session: { typeAccount: AccountType } } }): void => {
    if (context.session.typeAccount !== typeAccount) throw notFound({ data: forbidden })
  }

/** Why the person cannot see a page. */
export const forbidden = 'forbidden'
