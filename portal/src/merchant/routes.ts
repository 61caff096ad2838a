/** The addresses of the merchant's pages, the parameters of each, and the modules with their code. */
import { createRoute } from '@tanstack/react-router'
import { type HomeSearch, homeSearch } from '../campaigns/home/query.ts'
import { keptTimeZone } from '../i18n/preferences.tsx'
import { onlyFor, signedInRoute } from '../routing/base-routes.ts'
import { lazyPage } from '../routing/lazy-page.ts'
import { keptPageSize } from '../ui/data-table/page-size.ts'
import { campaignsQuery, homeQuery } from './queries.ts'
import {
  type CampaignsSearch,
  campaignSearch,
  campaignsSearch,
  newCampaignSearch,
  reconciliationSearch,
} from './search.ts'

const merchantRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/merchant',
  beforeLoad: onlyFor('retailer'),
})

const home = createRoute({
  getParentRoute: () => merchantRoute,
  path: '/',
  validateSearch: homeSearch,
  component: lazyPage(() => import('./pages/home.tsx'), 'HomePage'),
  staticData: {
    ahead: {
      isFor: ({ typeAccount }) => typeAccount === 'retailer',
      read: (queryClient, { kind, page, others }: HomeSearch) =>
        Promise.all([
          queryClient.prefetchQuery(homeQuery({ kind, page })),
          queryClient.prefetchQuery(homeQuery({ waitsFor: 'other', page: others })),
        ]),
    },
  },
})

const campaigns = createRoute({
  getParentRoute: () => merchantRoute,
  path: '/campaigns',
  validateSearch: campaignsSearch,
  component: lazyPage(() => import('./pages/campaigns.tsx'), 'CampaignsPage'),
  staticData: {
    ahead: {
      isFor: ({ typeAccount }) => typeAccount === 'retailer',
      read: (queryClient, search: CampaignsSearch) =>
        Promise.all([
          queryClient.prefetchQuery(campaignsQuery(search, keptTimeZone(), keptPageSize())),
          queryClient.prefetchQuery(homeQuery()),
        ]),
    },
  },
})

const newCampaign = createRoute({
  getParentRoute: () => merchantRoute,
  path: '/campaigns/new',
  validateSearch: newCampaignSearch,
  component: lazyPage(() => import('./pages/new-campaign.tsx'), 'NewCampaignPage'),
})

const campaign = createRoute({
  getParentRoute: () => merchantRoute,
  path: '/campaigns/$cashbackId',
  validateSearch: campaignSearch,
  component: lazyPage(() => import('./pages/campaign.tsx'), 'CampaignPage'),
})

const editCampaign = createRoute({
  getParentRoute: () => merchantRoute,
  path: '/campaigns/$cashbackId/edit',
  component: lazyPage(() => import('./pages/edit-campaign.tsx'), 'EditCampaignPage'),
})

const act = createRoute({
  getParentRoute: () => merchantRoute,
  path: '/campaigns/$cashbackId/banks/$bankId/act',
  component: lazyPage(() => import('./pages/act.tsx'), 'ActPage'),
})

const reconciliation = createRoute({
  getParentRoute: () => merchantRoute,
  path: '/campaigns/$cashbackId/banks/$bankId',
  validateSearch: reconciliationSearch,
  component: lazyPage(() => import('./pages/reconciliation.tsx'), 'ReconciliationPage'),
})

export const merchantRoutes = merchantRoute.addChildren([
  home,
  campaigns,
  newCampaign,
  campaign,
  editCampaign,
  reconciliation,
  act,
])
