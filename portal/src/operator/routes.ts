/** The addresses of the operator's pages, what each reads from its address, and where its code is. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { onlyFor, signedInRoute } from '../app/base-routes.ts'
import { accessSearch, campaignsSearch, ordersSearch, partnersSearch, stockSearch } from './search.ts'

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

const partners = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/partners',
  validateSearch: partnersSearch,
  component: lazyRouteComponent(() => import('./pages/partners.tsx'), 'PartnersPage'),
})

const access = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/access',
  validateSearch: accessSearch,
  component: lazyRouteComponent(() => import('./pages/access.tsx'), 'AccessPage'),
})

const mobileOperators = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/mobile-operators',
  component: lazyRouteComponent(() => import('./pages/mobile-operators.tsx'), 'MobileOperatorsPage'),
})

const stock = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/stock',
  validateSearch: stockSearch,
  component: lazyRouteComponent(() => import('./pages/stock.tsx'), 'StockPage'),
})

const tariffStock = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/stock/$operatorCode/$tariffCode',
  component: lazyRouteComponent(() => import('./pages/tariff-stock.tsx'), 'TariffStockPage'),
})

const orders = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/orders',
  validateSearch: ordersSearch,
  component: lazyRouteComponent(() => import('./pages/orders.tsx'), 'OrdersPage'),
})

const order = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/orders/$orderId',
  component: lazyRouteComponent(() => import('./pages/order.tsx'), 'OrderPage'),
})

const campaigns = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/campaigns',
  validateSearch: campaignsSearch,
  component: lazyRouteComponent(() => import('./pages/campaigns.tsx'), 'CampaignsPage'),
})

const campaign = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/campaigns/$cashbackId',
  component: lazyRouteComponent(() => import('./pages/campaign.tsx'), 'CampaignPage'),
})

const customers = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/customers',
  component: lazyRouteComponent(() => import('./pages/customers.tsx'), 'CustomersPage'),
})

const audit = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/audit',
  component: lazyRouteComponent(() => import('./pages/audit.tsx'), 'AuditPage'),
})

export const operatorRoutes = operatorRoute.addChildren([
  home,
  partners,
  access,
  mobileOperators,
  stock,
  tariffStock,
  orders,
  order,
  campaigns,
  campaign,
  customers,
  audit,
])
