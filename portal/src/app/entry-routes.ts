/** The pages without a login, and the way from `/` to a person's home page. */
import { createRoute, redirect } from '@tanstack/react-router'
import { rootRoute, signedInRoute } from '../routing/base-routes.ts'
import { lazyPage } from '../routing/lazy-page.ts'
import { oneOf, searchParams, text } from '../routing/search.ts'
import { placeAfterLogin } from '../routing/way-back.ts'
import { areaOf, sessionQuery } from '../session/session.ts'

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
  component: lazyPage(() => import('./login-page.tsx'), 'LoginPage'),
})

/** The page for links in invitations and password mails. It is the same for logged-in people and for others. */
export const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/join',
  component: lazyPage(() => import('./join-page.tsx'), 'JoinPage'),
})

export const forgottenRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgotten',
  component: lazyPage(() => import('./forgotten-page.tsx'), 'ForgottenPage'),
})

export const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  beforeLoad: ({ context }) => {
    throw redirect({ to: areaOf[context.session.typeAccount], replace: true })
  },
})
