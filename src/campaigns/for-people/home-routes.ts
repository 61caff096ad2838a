/** The home page of a partner's people, below `/portal`: open tasks and counts. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { onlyPartnersOfCampaigns, partnerOf } from '../../access/request/callers.ts'
import { pageView, skipped } from '../../http/paging.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import type { CampaignRoutesDeps } from '../request/deps.ts'
import { Home, HomeQuery } from './home-schemas.ts'
import { type FoundHome, findHome, type Party } from './home-store.ts'
import { countsView, imposedView, taskViews, totalsView } from './home-views.ts'

/** Maximum number of open campaigns that are read. Campaigns where the caller can probably act come first. */
const maxOpenCampaigns = 500
const maxImposed = 5

type Params = { page: number; pageSize: number; waitsFor?: 'me' | 'other'; kind?: string }

export const portalHomeRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  const { pageReads, clock } = deps
  onlyPartnersOfCampaigns(app, deps)

  const homeView = ({ campaigns, counts, imposed }: FoundHome, party: Party, params: Params) => {
    const tasks = taskViews(campaigns.slice(0, maxOpenCampaigns), party, clock.now())
    const { waitsFor: whom, kind: which } = params
    const found = tasks.filter(({ waitsFor, kind }) => waitsFor === (whom ?? waitsFor) && kind === (which ?? kind))
    const from = skipped(params)
    const { data, pagination } = pageView(found.slice(from, from + params.pageSize), params, found.length)
    return {
      tasks: data,
      pagination,
      totals: totalsView(tasks),
      isComplete: campaigns.length <= maxOpenCampaigns,
      bankCampaigns: { data: imposed.slice(0, maxImposed).map(imposedView), hasMore: imposed.length > maxImposed },
      counts: countsView(counts, party),
    }
  }

  app.get(
    '/home',
    {
      schema: {
        tags: ['Portal'],
        security: secured,
        operationId: 'readHome',
        summary: 'Your tasks, and how many campaigns there are',
        description:
          'Every step that the caller or the other side can take now, page by page, with the amount that the merchant owes.',
        querystring: HomeQuery,
        response: { 200: Home, ...cashbackErrors({ 400: 'The query is invalid' }) },
      },
    },
    async (request, reply) => {
      const party = partnerOf(request)
      const found = await pageReads.read(request, reply, database =>
        findHome(database, party, { campaigns: maxOpenCampaigns + 1, imposed: maxImposed + 1 }),
      )
      return homeView(found, party, request.query as Params)
    },
  )
}
