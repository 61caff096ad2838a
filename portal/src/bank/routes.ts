/** The addresses of the bank's pages, the parameters of each, and the modules with their code. */
import { createRoute } from '@tanstack/react-router'
import { type HomeSearch, homeSearch } from '../campaigns/home/query.ts'
import { keptTimeZone } from '../i18n/preferences.tsx'
import { onlyFor, signedInRoute } from '../routing/base-routes.ts'
import { lazyPage } from '../routing/lazy-page.ts'
import { maySeeCampaigns } from '../session/rights.ts'
import { keptPageSize } from '../ui/data-table/page-size.ts'
import { campaignsQuery, homeQuery } from './queries.ts'
import {
  type CampaignsSearch,
  campaignSearch,
  campaignsSearch,
  newCampaignSearch,
  ordersSearch,
  reconciliationSearch,
  salesSearch,
  statementsSearch,
} from './search.ts'

const bankRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/bank',
  beforeLoad: onlyFor('bank'),
})

const home = createRoute({
  getParentRoute: () => bankRoute,
  path: '/',
  validateSearch: homeSearch,
  component: lazyPage(() => import('./pages/home.tsx'), 'HomePage'),
  staticData: {
    ahead: {
      isFor: reader => reader.typeAccount === 'bank' && maySeeCampaigns(reader),
      read: (queryClient, { kind, page, others }: HomeSearch) =>
        Promise.all([
          queryClient.prefetchQuery(homeQuery({ kind, page })),
          queryClient.prefetchQuery(homeQuery({ waitsFor: 'other', page: others })),
        ]),
    },
  },
})

/** All campaign pages; people without access see an explanation. */
const campaigns = createRoute({
  getParentRoute: () => bankRoute,
  path: '/campaigns',
  component: lazyPage(() => import('./pages/campaigns-area.tsx'), 'CampaignsArea'),
})

const campaignList = createRoute({
  getParentRoute: () => campaigns,
  path: '/',
  validateSearch: campaignsSearch,
  component: lazyPage(() => import('./pages/campaigns.tsx'), 'CampaignsPage'),
  staticData: {
    ahead: {
      isFor: reader => reader.typeAccount === 'bank' && maySeeCampaigns(reader),
      read: (queryClient, search: CampaignsSearch) =>
        Promise.all([
          queryClient.prefetchQuery(campaignsQuery(search, keptTimeZone(), keptPageSize())),
          queryClient.prefetchQuery(homeQuery()),
        ]),
    },
  },
})

const newCampaign = createRoute({
  getParentRoute: () => campaigns,
  path: '/new',
  validateSearch: newCampaignSearch,
  component: lazyPage(() => import('./pages/new-campaign.tsx'), 'NewCampaignPage'),
})

const campaign = createRoute({
  getParentRoute: () => campaigns,
  path: '/$cashbackId',
  validateSearch: campaignSearch,
  component: lazyPage(() => import('./pages/campaign.tsx'), 'CampaignPage'),
})

const reconciliation = createRoute({
  getParentRoute: () => campaigns,
  path: '/$cashbackId/reconciliation',
  validateSearch: reconciliationSearch,
  component: lazyPage(() => import('./pages/reconciliation.tsx'), 'ReconciliationPage'),
})

const act = createRoute({
  getParentRoute: () => campaigns,
  path: '/$cashbackId/act',
  component: lazyPage(() => import('./pages/act.tsx'), 'ActPage'),
})

const sales = createRoute({
  getParentRoute: () => bankRoute,
  path: '/esim/sales',
  validateSearch: salesSearch,
  component: lazyPage(() => import('./pages/sales.tsx'), 'SalesPage'),
})

const orders = createRoute({
  getParentRoute: () => bankRoute,
  path: '/esim/orders',
  validateSearch: ordersSearch,
  component: lazyPage(() => import('./pages/orders.tsx'), 'OrdersPage'),
})

const order = createRoute({
  getParentRoute: () => bankRoute,
  path: '/esim/orders/$orderId',
  component: lazyPage(() => import('./pages/order.tsx'), 'OrderPage'),
})

const statements = createRoute({
  getParentRoute: () => bankRoute,
  path: '/statements',
  validateSearch: statementsSearch,
  component: lazyPage(() => import('./pages/statements.tsx'), 'StatementsPage'),
})

const statement = createRoute({
  getParentRoute: () => bankRoute,
  path: '/statements/$statementId',
  component: lazyPage(() => import('./pages/statement.tsx'), 'StatementPage'),
})

const tariffs = createRoute({
  getParentRoute: () => bankRoute,
  path: '/esim/tariffs',
  component: lazyPage(() => import('./pages/tariffs.tsx'), 'TariffsPage'),
})

export const bankRoutes = bankRoute.addChildren([
  home,
  campaigns.addChildren([campaignList, newCampaign, campaign, reconciliation, act]),
  sales,
  orders,
  order,
  statements,
  statement,
  tariffs,
])
