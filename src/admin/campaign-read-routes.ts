/** Reads campaigns of all merchants, for the operator who helps a bank or a merchant. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { EntryDeps } from '../audit-log/batched-entries.ts'
import { originOf } from '../audit-log/request/origin.ts'
import type { HistoryCursorDeps } from '../campaigns/history/cursors.ts'
import { readHistoryPage } from '../campaigns/history/pages.ts'
import { aboutPages, HistoryAnswer, HistoryQuery, historyHeaders } from '../campaigns/history/schemas.ts'
import { findParties } from '../campaigns/history/store.ts'
import { historyLinks, historyPageView } from '../campaigns/history/views.ts'
import { campaignStatuses } from '../campaigns/lifecycle/transitions.ts'
import { campaignNotFound } from '../campaigns/not-found.ts'
import { CampaignPath } from '../campaigns/schemas.ts'
import { showsBody } from '../http/answer/shown.ts'
import type { App } from '../http/app.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { listingView, maxScanned } from '../http/paging.ts'
import { namePattern } from '../text/name-pattern.ts'
import { uuidForm } from '../text/uuid.ts'
import { CampaignPage, CampaignsQuery, CampaignWithHistory } from './campaign-schemas.ts'
import { type CampaignDetails, findCampaign, findCampaigns, type ListedCampaign } from './campaign-store.ts'
import { operation, operatorErrors } from './request/documents.ts'

type Deps = ReadDeps & EntryDeps & HistoryCursorDeps

/** Who reads the histories here. */
const reader = { type: 'platform' } as const

export const campaignReadAdminRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  findCampaignsRoute(app, deps)
  readCampaignRoute(app, deps)
  readHistoryRoute(app, deps)
}

function findCampaignsRoute(app: App, deps: Deps): void {
  app.get(
    '/campaigns',
    {
      preValidation: async request => {
        // A request may repeat the parameter `status`. The schema expects a list, so a single value becomes a list of
        // one.
        const { status, ...others } = request.query as Record<string, unknown>
        request.query = { ...others, ...(status !== undefined && { status: [status].flat() }) } as never
      },
      schema: {
        ...operation(
          'Campaigns',
          'findCampaigns',
          'Find campaigns of all merchants',
          `The most recently changed first; with \`bank\`, the newest first. One answer examines at most ${maxScanned} campaigns of the ` +
            'statuses and the merchant or bank, in this order. `after` continues from there. Without `bank`, a campaign that changes moves ' +
            'to the beginning.',
        ),
        querystring: CampaignsQuery,
        response: { 200: CampaignPage, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const { search, status, merchant, bank, ...page } = request.query
      const isId = search !== undefined && uuidForm.test(search)
      const asked = {
        cashbackId: isId ? search : null,
        namePattern: search && !isId ? namePattern(search) : null,
        statuses: status ? [...new Set(status)] : campaignStatuses,
        merchantCode: merchant ?? null,
        bankCode: bank ?? null,
      }
      const { campaigns, ...found } = await deps.pageReads.read(request, reply, database =>
        findCampaigns(database, asked, page),
      )
      // An id finds one campaign, so the answer is a read of it, and not of a list.
      if (isId)
        for (const { cashbackId, retailerId: merchantId } of campaigns)
          await recordRead(deps, request, { cashbackId, merchantId })
      return listingView(campaigns.map(listedView), page, found)
    },
  )
}

function readCampaignRoute(app: App, deps: Deps): void {
  app.get(
    '/campaigns/:cashbackId',
    {
      schema: {
        ...operation(
          'Campaigns',
          'readAnyCampaign',
          'One campaign with its history',
          'Without the lists of terminals and customers, and with the newest page of the history. The `Link` header leads to older ' +
            'entries.',
        ),
        params: CampaignPath,
        response: {
          200: { ...CampaignWithHistory, headers: historyHeaders },
          ...operatorErrors({ 404: 'There is no such campaign' }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId } = request.params
      const { campaign, page } = await deps.pageReads.read(request, reply, async database => {
        const campaign = await findCampaign(database, cashbackId)
        if (!campaign) throw campaignNotFound('not-found')
        return { campaign, page: await readHistoryPage({ ...deps, database }, { cashbackId, reader }, undefined) }
      })
      await recordRead(deps, request, { cashbackId, merchantId: campaign.retailerId })
      reply.headers(historyLinks(page, historyPath(cashbackId)))
      const text = detailsText(campaign, historyPageView(page))
      return reply.type('application/json; charset=utf-8').send(text as never)
    },
  )
}

function readHistoryRoute(app: App, deps: Deps): void {
  app.get(
    '/campaigns/:cashbackId/history',
    {
      schema: {
        ...operation('Campaigns', 'readAnyHistory', 'The history of a campaign', aboutPages),
        params: CampaignPath,
        querystring: HistoryQuery,
        response: { 200: HistoryAnswer, ...operatorErrors({ 404: 'There is no such campaign' }) },
      },
    },
    async (request, reply) => {
      const { cashbackId } = request.params
      const { merchantId, page } = await deps.pageReads.read(request, reply, async database => {
        const campaign = await findParties(database, cashbackId, null)
        if (!campaign) throw campaignNotFound('not-found')
        const page = await readHistoryPage({ ...deps, database }, { cashbackId, reader }, request.query.before)
        return { merchantId: campaign.merchantId, page }
      })
      await recordRead(deps, request, { cashbackId, merchantId })
      reply.headers(historyLinks(page, historyPath(cashbackId)))
      return historyPageView(page)
    },
  )
}

/** Records that the operator has read a campaign. */
async function recordRead(
  { batchedEntries }: Deps,
  request: FastifyRequest,
  { cashbackId, merchantId }: { cashbackId: string; merchantId: string },
): Promise<void> {
  const owner = { type: 'merchant', id: merchantId } as const
  const fact = { action: 'campaign.read', object: { type: 'campaign', id: cashbackId }, owner } as const
  if (showsBody(request)) await batchedEntries.write(originOf(request), fact)
}

const historyPath = (cashbackId: string): string => `/admin/campaigns/${cashbackId}/history`

const listedView = ({ retailerId, retailerCode, retailerName, retailerNameEn, ...campaign }: ListedCampaign) => ({
  ...campaign,
  retailer: { retailerId, code: retailerCode, name: retailerName, nameEn: retailerNameEn },
  dateFrom: campaign.dateFrom.toISOString(),
  dateTo: campaign.dateTo.toISOString(),
  createdAt: campaign.createdAt.toISOString(),
  updatedAt: campaign.updatedAt.toISOString(),
})

/**
 * Returns the JSON text of a campaign with its history. `card` already is JSON text: it has the fields that change only
 * when the campaign is edited.
 */
function detailsText(campaign: CampaignDetails, history: readonly object[]): string {
  const { card, retailerId, retailerCode, retailerName, retailerNameEn, ...rest } = campaign
  const retailer = { retailerId, code: retailerCode, name: retailerName, nameEn: retailerNameEn }
  return `${card},${JSON.stringify({ ...rest, retailer, history }).slice(1)}`
}
