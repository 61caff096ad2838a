/** Routes that show the current directory of partners to the operator's staff, who may want to change it. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '../errors.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { type Page, pageView, skipped } from '../http/paging.ts'
import * as entries from '../partners/entries-store.ts'
import { namePattern } from '../text/name-pattern.ts'
import { MerchantPath, Partners, PartnersQuery, ShownMerchant, Terminals, TerminalsQuery } from './partner-schemas.ts'
import { operation, operatorErrors } from './request/documents.ts'

export const partnerAdminRoutes: FastifyPluginAsyncTypebox<ReadDeps> = async (app, { pageReads }) => {
  app.get(
    '/partners',
    {
      schema: {
        ...operation(
          'Partners',
          'readPartners',
          'The directory of partners, countries, payment systems and mobile operators',
          'Every entry has the shape of the directory file. It can be changed and sent to `POST /admin/directory` again, alone or with ' +
            'others, below `countries`, `paymentSystems`, `banks`, `merchants` or `esim.operators`. Merchants come page by page.',
        ),
        querystring: PartnersQuery,
        response: { 200: Partners, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const { search, ...page } = request.query
      const directory = await pageReads.read(request, reply, database =>
        entries.readDirectory(database, askedOf(search, page)),
      )
      const { merchants, totalItems } = directory.merchants
      return { ...directory, merchants: pageView(merchants.map(merchantView), page, totalItems) } as never
    },
  )

  app.get(
    '/merchants/:code',
    {
      schema: {
        ...operation('Partners', 'readMerchant', 'One merchant', 'As in the list of partners.'),
        params: MerchantPath,
        response: { 200: ShownMerchant, ...operatorErrors({ 404: 'No merchant has that code' }) },
      },
    },
    async (request, reply) => {
      const database = await pageReads.begin(request, reply)
      return merchantView(known(await entries.findMerchant(database, request.params.code))) as never
    },
  )

  app.get(
    '/merchants/:code/terminals',
    {
      schema: {
        ...operation(
          'Partners',
          'readTerminals',
          'The terminals of a merchant',
          'Of the platform’s directory, page by page. `POST /admin/directory` replaces them.',
        ),
        params: MerchantPath,
        querystring: TerminalsQuery,
        response: { 200: Terminals, ...operatorErrors({ 404: 'No merchant has that code' }) },
      },
    },
    async (request, reply) => {
      const { search, ...page } = request.query
      const { terminals, totalItems } = await pageReads.read(request, reply, async database => {
        const { entry } = known(await entries.findMerchant(database, request.params.code))
        return entries.listTerminals(database, entry.id, askedOf(search, page))
      })
      return pageView(terminals, page, totalItems)
    },
  )
}

function known(merchant: entries.ShownMerchant | undefined): entries.ShownMerchant {
  if (!merchant) throw new DomainError('not-found', 'No merchant has this code')
  return merchant
}

const askedOf = (search: string | undefined, page: Page) => ({
  pattern: search ? namePattern(search) : null,
  limit: page.pageSize,
  offset: skipped(page),
})

const merchantView = ({ createdAt, updatedAt, ...merchant }: entries.ShownMerchant) => ({
  ...merchant,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})
