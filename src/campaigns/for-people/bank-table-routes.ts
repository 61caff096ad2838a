/**
 * Routes that show a bank's campaigns to its people, below `/portal/cashbacks`. Unlike the API for systems, they leave
 * out terminals and customers, which may be many.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { bankOf } from '../../access/request/authenticate.ts'
import { onlyBanksOfCampaigns } from '../../access/request/callers.ts'
import { listingView, maxScanned } from '../../http/paging.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import { sendVersion } from '../for-merchant/details-views.ts'
import { etagHeader } from '../guard-schemas.ts'
import { instantTag } from '../lifecycle/expected-version.ts'
import { campaignNotFound } from '../not-found.ts'
import type { CampaignRoutesDeps } from '../request/deps.ts'
import { CampaignPath } from '../schemas.ts'
import { BankCampaignsQuery, readBankCampaignSearch, withLists } from './bank-table-query.ts'
import { BankCampaignDetails, BankCampaignPage } from './bank-table-schemas.ts'
import { findBankCampaign, findBankCampaigns } from './bank-table-store.ts'
import { bankCampaignText, bankCampaignView } from './bank-table-views.ts'

const common = { tags: ['Portal'], security: secured }

export const portalBankCampaignRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  const { pageReads, clock } = deps
  onlyBanksOfCampaigns(app, deps)

  app.get(
    '/cashbacks',
    {
      preValidation: async request => {
        request.query = withLists(request.query as Record<string, unknown>) as typeof request.query
      },
      schema: {
        ...common,
        operationId: 'findBankCampaigns',
        summary: 'The bank’s campaigns, page by page',
        description:
          'For banks. Without terminals and customers; filters are combined, every one narrows the list. Of a longer list the newest ' +
          `${maxScanned} campaigns of the statuses that are asked for are looked at; \`after\` leads on.`,
        querystring: BankCampaignsQuery,
        response: {
          200: BankCampaignPage,
          ...cashbackErrors({ 400: 'A parameter is unknown, or a value is invalid' }),
        },
      },
    },
    async (request, reply) => {
      const { query } = request
      const search = readBankCampaignSearch(query)
      const { campaigns, ...found } = await pageReads.read(request, reply, database =>
        findBankCampaigns(database, bankOf(request).bankId, search, query),
      )
      return listingView(campaigns.map(bankCampaignView), query, found)
    },
  )

  app.get(
    '/cashbacks/:cashbackId',
    {
      schema: {
        ...common,
        operationId: 'readBankCampaign',
        summary: 'One campaign of the bank',
        description:
          'For banks. Everything but the lists of terminals and customers, and what the bank may do with it now.',
        params: CampaignPath,
        response: {
          200: { ...BankCampaignDetails, headers: { etag: etagHeader } },
          ...cashbackErrors({
            400: 'The id is not a UUID, or the query is not empty',
            404: 'There is no such campaign, or the bank is not invited',
          }),
        },
      },
    },
    async (request, reply) => {
      const { bankId } = bankOf(request)
      const database = await pageReads.begin(request, reply)
      const details = await findBankCampaign(database, request.params.cashbackId, bankId)
      if (!details) throw campaignNotFound('not-found')
      const text = bankCampaignText(details, bankId, clock.now())
      return sendVersion(reply, instantTag(details.updatedAt), text)
    },
  )
}
