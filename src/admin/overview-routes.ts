/** The route that gives the operator an overview of the whole platform. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { campaignStatuses } from '../campaigns/lifecycle/transitions.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { count, instant } from '../http/schemas.ts'
import { readOverview } from './overview-store.ts'
import { operation, operatorErrors } from './request/documents.ts'

const dayMs = 86_400_000

const counts = (names: Record<string, string>, description: string, title?: string) =>
  Type.Object(Object.fromEntries(Object.entries(names).map(([name, of]) => [name, count(of)])), {
    description,
    ...(title && { title }),
  })
const partners = { active: 'Active ones', suspended: 'Suspended ones' }

const Overview = Type.Object(
  {
    now: instant('The platform’s time; in sandbox mode it can be moved'),
    banks: counts(partners, 'Banks', 'PartnerCounts'),
    merchants: counts(partners, 'Merchants', 'PartnerCounts'),
    mobileOperators: counts({ active: 'Active ones', others: 'Suspended and withdrawn ones' }, 'Mobile operators'),
    tariffs: counts({ onSale: 'On sale', others: 'Switched off' }, 'Tariffs'),
    users: count('Portal users who may log in', 5),
    credentials: count('Credentials that work', 4),
    customers: count('Customers in the directory', 100000),
    campaigns: counts(Object.fromEntries(campaignStatuses.map(status => [status, status])), 'Campaigns by status'),
    orders: counts(
      { reserved: 'Wait for a payment', confirmed: 'Sold', cancelled: 'Given back', expired: 'Not paid in time' },
      'eSIM orders that were made in the last 24 hours, by their present status',
    ),
  },
  { description: 'Counts' },
)

export const overviewAdminRoutes: FastifyPluginAsyncTypebox<Pick<CampaignDeps, 'clock'> & ReadDeps> = async (
  app,
  { pageReads, clock },
) => {
  app.get(
    '/overview',
    {
      schema: {
        ...operation('Overview', 'readOverview', 'The platform in numbers', 'Partners, access, campaigns and sales.'),
        response: { 200: Overview, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const now = clock.now()
      const ordersSince = new Date(now.getTime() - dayMs)
      const { campaigns, ...others } = await pageReads.read(request, reply, database =>
        readOverview(database, { now, ordersSince }),
      )
      const countOf = new Map(campaigns.map(one => [one.status, one.count]))
      return {
        now: now.toISOString(),
        ...others,
        campaigns: Object.fromEntries(campaignStatuses.map(status => [status, countOf.get(status) ?? 0])),
      }
    },
  )
}
