/** The addresses of the operator's pages, the parameters of each, and the modules with their code. */
import { createRoute } from '@tanstack/react-router'
import { onlyFor, signedInRoute } from '../routing/base-routes.ts'
import { lazyPage } from '../routing/lazy-page.ts'
import { auditsQuery, overviewQuery, stockQuery } from './queries.ts'
import { accessSearch, campaignsSearch, ordersSearch, partnersSearch, statementsSearch, stockSearch } from './search.ts'

const operatorRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/operator',
  beforeLoad: onlyFor('platform'),
})

const home = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/',
  component: lazyPage(() => import('./pages/home.tsx'), 'HomePage'),
  staticData: {
    ahead: {
      isFor: ({ typeAccount }) => typeAccount === 'platform',
      read: queryClient =>
        Promise.all([
          queryClient.prefetchQuery(overviewQuery),
          queryClient.prefetchQuery(stockQuery),
          queryClient.prefetchQuery(auditsQuery),
        ]),
    },
  },
})

const partners = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/partners',
  validateSearch: partnersSearch,
  component: lazyPage(() => import('./pages/partners.tsx'), 'PartnersPage'),
})

const partner = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/partners/$kind/$code',
  params: {
    parse: ({ kind, code }) => ({ kind: kind === 'merchants' ? ('merchants' as const) : ('banks' as const), code }),
    stringify: params => params,
  },
  component: lazyPage(() => import('./pages/partner.tsx'), 'PartnerPage'),
})

const access = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/access',
  validateSearch: accessSearch,
  component: lazyPage(() => import('./pages/access.tsx'), 'AccessPage'),
})

const mobileOperators = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/mobile-operators',
  component: lazyPage(() => import('./pages/mobile-operators.tsx'), 'MobileOperatorsPage'),
})

const stock = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/stock',
  validateSearch: stockSearch,
  component: lazyPage(() => import('./pages/stock.tsx'), 'StockPage'),
})

const tariffStock = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/stock/$operatorCode/$tariffCode',
  component: lazyPage(() => import('./pages/tariff-stock.tsx'), 'TariffStockPage'),
})

const orders = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/orders',
  validateSearch: ordersSearch,
  component: lazyPage(() => import('./pages/orders.tsx'), 'OrdersPage'),
})

const order = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/orders/$orderId',
  component: lazyPage(() => import('./pages/order.tsx'), 'OrderPage'),
})

const campaigns = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/campaigns',
  validateSearch: campaignsSearch,
  component: lazyPage(() => import('./pages/campaigns.tsx'), 'CampaignsPage'),
})

const campaign = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/campaigns/$cashbackId',
  component: lazyPage(() => import('./pages/campaign.tsx'), 'CampaignPage'),
})

const customers = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/customers',
  component: lazyPage(() => import('./pages/customers.tsx'), 'CustomersPage'),
})

const statements = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/statements',
  validateSearch: statementsSearch,
  component: lazyPage(() => import('./pages/statements.tsx'), 'StatementsPage'),
})

const webhooks = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/webhooks',
  component: lazyPage(() => import('./pages/webhooks.tsx'), 'WebhooksPage'),
})

const audit = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/audit',
  component: lazyPage(() => import('./pages/audit.tsx'), 'AuditPage'),
})

export const operatorRoutes = operatorRoute.addChildren([
  home,
  partners,
  partner,
  access,
  mobileOperators,
  stock,
  tariffStock,
  orders,
  order,
  campaigns,
  campaign,
  customers,
  statements,
  webhooks,
  audit,
])
