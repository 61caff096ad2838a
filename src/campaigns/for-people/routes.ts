/**
 * Routes that read a campaign's terminals and segment for people of banks and merchants, below `/portal`. Roles are the
 * same as for other campaign routes.
 */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { onlyPartnersOfCampaigns, partnerOf } from '../../access/request/callers.ts'
import type { App } from '../../http/app.ts'
import { pageView } from '../../http/paging.ts'
import { secured } from '../../http/schemas.ts'
import { requireParty } from '../history/parties.ts'
import type { CampaignRoutesDeps } from '../request/deps.ts'
import { roundedCustomers } from '../rounded-customers.ts'
import { CampaignPath, campaignErrors } from '../schemas.ts'
import { OwnTerminals, Segment, TerminalPage, TerminalsQuery } from './schemas.ts'
import { findSegmentParts } from './segment-store.ts'
import { terminalSearch } from './terminal-search.ts'
import { findTerminals, readOwnTerminals } from './terminal-store.ts'

const common = { tags: ['Portal'], security: secured }
const unknown = 'There is no such campaign, or the bank is not invited'

export const portalCampaignRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyPartnersOfCampaigns(app, deps)
  findTerminalsRoute(app, deps)
  readOwnTerminalsRoute(app, deps)
  readSegmentRoute(app, deps)
}

function findTerminalsRoute(app: App, deps: CampaignRoutesDeps): void {
  const { costlyReads } = deps
  app.get(
    '/cashbacks/:cashbackId/terminals',
    {
      schema: {
        ...common,
        operationId: 'findTerminals',
        summary: 'The terminals of a campaign, page by page',
        description:
          'In the order of the campaign’s list; those of the platform’s directory by their identifiers. With `since`, what was ' +
          'added since.',
        params: CampaignPath,
        querystring: TerminalsQuery,
        response: {
          200: TerminalPage,
          ...campaignErrors({ 400: 'The id is not a UUID, or the query is invalid', 404: unknown }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId } = request.params
      const { search, since, ...page } = request.query
      const input = terminalSearch({ search, since })
      const { terminals, totalItems } = await costlyReads.read(request, reply, async database => {
        await requireParty(database, { caller: partnerOf(request), cashbackId })
        return findTerminals(database, cashbackId, input, page)
      })
      const views = terminals.map(terminal => ({ ...terminal, addedAt: new Date(terminal.addedAt).toISOString() }))
      return pageView(views, page, totalItems)
    },
  )
}

function readOwnTerminalsRoute(app: App, deps: CampaignRoutesDeps): void {
  const { pageReads } = deps
  app.get(
    '/cashbacks/:cashbackId/own-terminals',
    {
      schema: {
        ...common,
        operationId: 'readOwnTerminals',
        summary: 'The campaign’s own list of terminals, complete',
        description:
          'For making another campaign of it. Empty for a campaign that applies at all terminals of its merchant ' +
          '(`terminalsPlatform`).',
        params: CampaignPath,
        response: {
          200: OwnTerminals,
          ...campaignErrors({ 400: 'The id is not a UUID, or the query is not empty', 404: unknown }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId } = request.params
      const text = await pageReads.read(request, reply, async database => {
        await requireParty(database, { caller: partnerOf(request), cashbackId })
        return readOwnTerminals(database, cashbackId)
      })
      return reply.type('application/json; charset=utf-8').send(`{"terminals":${text}}` as never)
    },
  )
}

function readSegmentRoute(app: App, deps: CampaignRoutesDeps): void {
  const { pageReads } = deps
  app.get(
    '/cashbacks/:cashbackId/segment',
    {
      schema: {
        ...common,
        operationId: 'readSegment',
        summary: 'The state of a campaign’s segment',
        description:
          'Counts only, bank by bank. A bank sees its own part, exactly; a merchant sees numbers rounded down to tens, 0 ' +
          'below 20, and ' +
          'their sum. Which customers they are is in the bank’s list.',
        params: CampaignPath,
        response: {
          200: Segment,
          ...campaignErrors({ 400: 'The id is not a UUID, or the query is not empty', 404: unknown }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId } = request.params
      const caller = partnerOf(request)
      const parts = await pageReads.read(request, reply, async database => {
        await requireParty(database, { caller, cashbackId })
        return findSegmentParts(database, cashbackId, caller.type === 'bank' ? caller.bankId : null)
      })
      if (caller.type === 'bank') return segmentView(parts)
      return segmentView(parts.map(part => ({ ...part, customersCount: roundedCustomers(part.customersCount) })))
    },
  )
}

function segmentView(parts: Awaited<ReturnType<typeof findSegmentParts>>) {
  const formed = parts.find(({ formedAt }) => formedAt !== null)
  return {
    customersCount: parts.reduce((sum, { customersCount }) => sum + customersCount, 0),
    formedAt: formed?.formedAt?.toISOString() ?? null,
    sourceFileName: formed?.sourceFileName ?? null,
    banks: parts.map(({ bankId, bankName, formedAt, ...part }) => ({
      id: bankId,
      name: bankName,
      ...part,
      formedAt: formedAt?.toISOString() ?? null,
    })),
  }
}
