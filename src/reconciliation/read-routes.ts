/** Routes with which both sides read a reconciliation: its state, the uploaded files and all differences. */

import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { onlyPartnersOfCampaigns, partnerOf } from '../access/request/callers.ts'
import { etagHeader } from '../campaigns/guard-schemas.ts'
import { instantTag, versionTag } from '../campaigns/lifecycle/expected-version.ts'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'
import { CampaignPath, campaignErrors } from '../campaigns/schemas.ts'
import { downloadHeaders } from '../http/answer/download.ts'
import type { App } from '../http/app.ts'
import { pageView } from '../http/paging.ts'
import { cashbackErrors, secured } from '../http/schemas.ts'
import type { Difference } from './differences.ts'
import { openDifferences, openFile, readReconciliation, searchDifferences } from './reads.ts'
import * as schemas from './schemas.ts'
import { differenceLines, differencesHeader, reconciliationView } from './views.ts'

const common = { tags: ['Reconciliation'], security: secured }
const badPath = 'An id is not a UUID, or the query is not empty'

const differencesNotFound =
  'There is no such campaign, the bank is not invited to it, or the differences were removed with the files'

const csv = (description: string) => ({
  description,
  content: { 'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string', contentMediaType: 'text/csv' }) } },
})

export const readRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyPartnersOfCampaigns(app, deps)
  readReconciliationRoute(app, deps)
  downloadDifferencesRoute(app, deps)
  findDifferencesRoute(app, deps)
  downloadReportRoute(app, deps)
}

function readReconciliationRoute(app: App, deps: CampaignRoutesDeps): void {
  app.get(
    '/cashbacks/:cashbackId/reconciliation',
    {
      schema: {
        ...common,
        operationId: 'readReconciliation',
        summary: 'Stages, reports, totals and differences',
        description:
          'The merchant sees every invited bank, a bank itself alone. Differences are those of the latest report of each ' +
          'side: against ' +
          'the terms of the campaign, and once both are there, between the two.',
        params: CampaignPath,
        response: {
          200: { ...schemas.Reconciliation, headers: { etag: etagHeader } },
          ...campaignErrors({ 400: badPath, 404: 'There is no such campaign, or the bank is not invited' }),
        },
      },
    },
    async (request, reply) => {
      const database = await deps.pageReads.begin(request, reply)
      const caller = partnerOf(request)
      const read = await readReconciliation({ database }, { caller, ...request.params })
      reply.header('etag', caller.type === 'bank' ? instantTag(read.updatedAt) : versionTag(read.version))
      return reconciliationView(read)
    },
  )
}

function downloadDifferencesRoute(app: App, deps: CampaignRoutesDeps): void {
  app.get(
    '/cashbacks/:cashbackId/banks/:bankId/differences.csv',
    {
      schema: {
        ...common,
        operationId: 'downloadDifferences',
        summary: 'All differences with a bank as CSV',
        description:
          'For the merchant of the campaign and for that bank. Columns: `kind`, `transactionId`, `bankLine`, ' +
          '`merchantLine`, `expected`, ' +
          '`found`. UTF-8 with a byte order mark. Texts are quoted; text that a spreadsheet would read as a formula is prefixed with an apostrophe. If a ' +
          'report is uploaded during the download, the connection breaks; start the download again.',
        params: schemas.PartPath,
        response: {
          200: csv('The differences, in the order of the bank’s report, then of the merchant’s'),
          ...campaignErrors({ 400: badPath, 404: differencesNotFound }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId, bankId } = request.params
      const input = { caller: partnerOf(request), cashbackId, bankId }
      const pages = await openDifferences(deps, input, () => deps.costlyReads.begin(request, reply))
      reply.headers(downloadHeaders(`differences-${cashbackId}-${bankId}.csv`))
      return reply.send(Readable.from(csvOf(pages)))
    },
  )
}

function findDifferencesRoute(app: App, deps: CampaignRoutesDeps): void {
  app.get(
    '/cashbacks/:cashbackId/banks/:bankId/differences',
    {
      schema: {
        ...common,
        operationId: 'findDifferences',
        summary: 'Differences with a bank, page by page',
        description:
          'For the merchant of the campaign and for that bank. Of one kind, or of transactions whose id has a part in any ' +
          'case; in the ' +
          'order of the bank’s report, then of the merchant’s. `totalItems` without `search` is the number of the reconciliation.',
        params: schemas.PartPath,
        querystring: schemas.DifferencesQuery,
        response: {
          200: schemas.DifferencePage,
          ...campaignErrors({
            400: 'An id is not a UUID, or the query is invalid',
            404: differencesNotFound,
          }),
        },
      },
    },
    async (request, reply) => {
      const { kind, search, ...page } = request.query
      const input = { caller: partnerOf(request), ...request.params }
      const { items, totalItems } = await searchDifferences(deps, input, { kind, search }, page, () =>
        deps.costlyReads.begin(request, reply),
      )
      return pageView(items, page, totalItems)
    },
  )
}

function downloadReportRoute(app: App, deps: CampaignRoutesDeps): void {
  app.get(
    '/reports/:reportId/file',
    {
      schema: {
        ...common,
        operationId: 'downloadReport',
        summary: 'An uploaded report, byte for byte',
        description:
          'For the merchant of the campaign and for the bank that it is about, whichever of them uploaded it.',
        params: schemas.ReportPath,
        response: {
          200: csv('The file'),
          ...cashbackErrors({ 400: badPath, 404: 'There is no such report for this caller, or its file was removed' }),
        },
      },
    },
    async (request, reply) => {
      const input = { caller: partnerOf(request), ...request.params }
      const file = await openFile(deps, input, () => deps.costlyReads.begin(request, reply))
      reply.headers(downloadHeaders(file.fileName)).header('content-length', file.sizeBytes)
      return reply.send(Readable.from(file.bytes, { objectMode: false }))
    },
  )
}

async function* csvOf(pages: AsyncIterable<Difference[]>): AsyncGenerator<string> {
  yield differencesHeader
  for await (const page of pages) yield differenceLines(page)
}
