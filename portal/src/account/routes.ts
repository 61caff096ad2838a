/** The addresses of an account's own pages. They are the same for merchants, banks and the platform. */
import { createRoute, notFound } from '@tanstack/react-router'
import { forbidden, signedInRoute } from '../routing/base-routes.ts'
import { lazyPage } from '../routing/lazy-page.ts'
import { isManager, maySeeAuditLog, maySeeEvents } from '../session/rights.ts'
import type { Session } from '../session/session.ts'
import { auditLogSearch } from './audit-log/search.ts'
import { accountListSearch, accountSearch, deliveriesSearch, eventsSearch } from './search.ts'

const accountRoute = createRoute({ getParentRoute: () => signedInRoute, path: '/account' })

/** Lets only managers open the page. Other people see a page that says that they have no access. */
const onlyManagers = ({ context }: { context: { session: Session } }): void => {
  if (!isManager(context.session)) throw notFound({ data: forbidden })
}

const onlyEventReaders = ({ context }: { context: { session: Session } }): void => {
  if (!maySeeEvents(context.session)) throw notFound({ data: forbidden })
}

const people = createRoute({
  getParentRoute: () => accountRoute,
  path: '/people',
  validateSearch: accountListSearch,
  beforeLoad: onlyManagers,
  component: lazyPage(() => import('./pages/people.tsx'), 'PeoplePage'),
})

const credentials = createRoute({
  getParentRoute: () => accountRoute,
  path: '/credentials',
  validateSearch: accountListSearch,
  beforeLoad: onlyManagers,
  component: lazyPage(() => import('./pages/own-credentials.tsx'), 'OwnCredentialsPage'),
})

const security = createRoute({
  getParentRoute: () => accountRoute,
  path: '/security',
  validateSearch: accountSearch,
  beforeLoad: onlyManagers,
  component: lazyPage(() => import('./pages/security.tsx'), 'SecurityPage'),
})

const auditLog = createRoute({
  getParentRoute: () => accountRoute,
  path: '/audit-log',
  validateSearch: auditLogSearch,
  beforeLoad({ context }) {
    if (!maySeeAuditLog(context.session)) throw notFound({ data: forbidden })
  },
  component: lazyPage(() => import('./pages/audit-log.tsx'), 'AuditLogPage'),
})

const profile = createRoute({
  getParentRoute: () => accountRoute,
  path: '/profile',
  component: lazyPage(() => import('./pages/profile.tsx'), 'ProfilePage'),
})

const webhooks = createRoute({
  getParentRoute: () => accountRoute,
  path: '/webhooks',
  beforeLoad: onlyEventReaders,
  component: lazyPage(() => import('./pages/webhooks.tsx'), 'WebhooksPage'),
})

const endpoint = createRoute({
  getParentRoute: () => accountRoute,
  path: '/webhooks/$endpointId',
  validateSearch: deliveriesSearch,
  beforeLoad: onlyEventReaders,
  component: lazyPage(() => import('./pages/endpoint.tsx'), 'EndpointPage'),
})

const delivery = createRoute({
  getParentRoute: () => accountRoute,
  path: '/webhooks/$endpointId/$deliveryId',
  beforeLoad: onlyEventReaders,
  component: lazyPage(() => import('./pages/delivery.tsx'), 'DeliveryPage'),
})

const events = createRoute({
  getParentRoute: () => accountRoute,
  path: '/events',
  validateSearch: eventsSearch,
  beforeLoad: onlyEventReaders,
  component: lazyPage(() => import('./pages/events.tsx'), 'EventsPage'),
})

const event = createRoute({
  getParentRoute: () => accountRoute,
  path: '/events/$eventId',
  beforeLoad: onlyEventReaders,
  component: lazyPage(() => import('./pages/event.tsx'), 'EventPage'),
})

export const accountRoutes = accountRoute.addChildren([
  people,
  credentials,
  security,
  auditLog,
  profile,
  webhooks,
  endpoint,
  delivery,
  events,
  event,
])
