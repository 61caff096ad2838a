/**
 * CSV files for download, below `/portal`: the caller's campaigns, a campaign's terminals, and a bank's own customers
 * in a segment.
 */

import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { bankOf } from '../../access/request/authenticate.ts'
import { onlyPartnersOfCampaigns, partnerOf } from '../../access/request/callers.ts'
import { broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { downloadHeaders } from '../../http/answer/download.ts'
import { sendLong } from '../../http/answer/long-answer.ts'
import type { App } from '../../http/app.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import { csvCell, csvMark } from '../../text/csv-cell.ts'
import { requireParty } from '../history/parties.ts'
import type { CampaignRoutesDeps } from '../request/deps.ts'
import { CampaignPath, campaignErrors } from '../schemas.ts'
import { CampaignsExportQuery, readFilters, withLists } from './bank-table-query.ts'
import { campaignsCsv, columnNames } from './csv.ts'
import { TerminalsExportQuery } from './schemas.ts'
import { openSegmentFile } from './segment-csv.ts'
import { findSegmentParts } from './segment-store.ts'
import { terminalSearch } from './terminal-search.ts'
import { readTerminals, type ShownTerminal } from './terminal-store.ts'

const common = { tags: ['Portal'], security: secured }

const csv = (description: string) => ({
  description,
  content: { 'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string', contentMediaType: 'text/csv' }) } },
})
const aboutFile =
  'UTF-8 with a byte order mark. A text that a spreadsheet would take for a formula begins with an apostrophe.'

export const portalCampaignFileRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyPartnersOfCampaigns(app, deps)
  exportCampaignsRoute(app, deps)
  downloadTerminalsRoute(app, deps)
  downloadSegmentRoute(app, deps)
}

function exportCampaignsRoute(app: App, deps: CampaignRoutesDeps): void {
  const { database } = deps
  app.get(
    '/cashbacks.csv',
    {
      preValidation: async request => {
        request.query = withLists(request.query as Record<string, unknown>) as typeof request.query
      },
      schema: {
        ...common,
        operationId: 'exportCampaigns',
        summary: 'The caller’s campaigns as CSV',
        description:
          `The newest first. Columns for a bank: ${columnNames('bank').join(', ')}; for a merchant: ` +
          `${columnNames('retailer').join(', ')}. \`dateTo\` is outside the period. ${aboutFile}`,
        querystring: CampaignsExportQuery,
        response: {
          200: csv('Every campaign that the filters find'),
          ...cashbackErrors({ 400: 'The query is invalid, or a merchant gives `bankStatus`' }),
        },
      },
    },
    async (request, reply) => {
      const party = partnerOf(request)
      const query = request.query as Parameters<typeof readFilters>[0]
      if (party.type === 'retailer' && query.bankStatus)
        throw new DomainError('invalid', [broken('bankStatus', 'omitted-by-merchant')])
      const search = readFilters(query)
      const { signal } = await deps.costlyReads.beginFile(request, reply)
      return reply.headers(downloadHeaders('campaigns.csv')).send(campaignsCsv(database, party, search, signal))
    },
  )
}

function downloadTerminalsRoute(app: App, deps: CampaignRoutesDeps): void {
  const { database } = deps
  app.get(
    '/cashbacks/:cashbackId/terminals.csv',
    {
      schema: {
        ...common,
        operationId: 'downloadTerminals',
        summary: 'The terminals of a campaign as CSV',
        description:
          'For the merchant of the campaign and its invited banks. Columns: `terminal_id`, `terminal_name`, `terminal_location`, ' +
          '`merchant_id`, `merchant_name`, `addedAt`. Filters and order as in the list of terminals. It is sent while it ' +
          `is read: when the connection breaks, as it does when the campaign is edited, the file is not complete. ${aboutFile}`,
        params: CampaignPath,
        querystring: TerminalsExportQuery,
        response: {
          200: csv('Every terminal that matches'),
          ...campaignErrors({
            400: 'The id is not a UUID, or the query is invalid',
            404: 'There is no such campaign, or the bank is not invited',
          }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId } = request.params
      const search = terminalSearch(request.query)
      await requireParty(database, { caller: partnerOf(request), cashbackId })
      const terminals = readTerminals(await deps.costlyReads.begin(request, reply), cashbackId, search)
      reply.headers(downloadHeaders(`terminals-${cashbackId}.csv`))
      return reply.send(Readable.from(terminalLines(terminals)))
    },
  )
}

function downloadSegmentRoute(app: App, deps: CampaignRoutesDeps): void {
  const { database } = deps
  app.get(
    '/cashbacks/:cashbackId/segment.csv',
    {
      onRequest: async request => {
        bankOf(request)
      },
      schema: {
        ...common,
        operationId: 'downloadSegment',
        summary: 'The bank’s own customers in a segment as CSV',
        description:
          'For banks. One column, `customerId`, in the order of the file that the segment was formed from. It is sent while ' +
          'it is read: ' +
          `when the connection breaks, the file is not complete. ${aboutFile}`,
        params: CampaignPath,
        response: {
          200: csv('The bank’s customers'),
          ...cashbackErrors({
            400: 'The id is not a UUID, or the query is not empty',
            404: 'There is no such campaign, the bank is not invited, or it has no segment',
          }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId } = request.params
      const caller = bankOf(request)
      await requireParty(database, { caller, cashbackId })
      const [part] = await findSegmentParts(database, cashbackId, caller.bankId)
      if (!part?.formedAt) throw new DomainError('not-found', 'The campaign has no segment for this bank')
      const { signal } = await deps.costlyReads.beginFile(request, reply)
      const writeTo = await openSegmentFile(database, { cashbackId, bankId: caller.bankId }, signal)
      reply.headers(downloadHeaders(`segment-${cashbackId}.csv`))
      sendLong(request, reply, { encoding: 'identity', writeTo })
      return reply
    },
  )
}

const columns = [
  'terminal_id',
  'terminal_name',
  'terminal_location',
  'merchant_id',
  'merchant_name',
  'addedAt',
] as const satisfies readonly (keyof ShownTerminal)[]

const lineOf = (cells: readonly (string | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

async function* terminalLines(pages: AsyncIterable<ShownTerminal[]>): AsyncGenerator<string> {
  yield csvMark + lineOf(columns)
  for await (const page of pages)
    yield page
      .map(terminal => ({ ...terminal, addedAt: new Date(terminal.addedAt).toISOString() }))
      .map(terminal => lineOf(columns.map(column => terminal[column])))
      .join('')
}
