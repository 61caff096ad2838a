/** The directory as it is now, for those who change it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { namePattern } from '../campaigns/name-pattern.ts'
import { pageView, skipped } from '../campaigns/paging.ts'
import * as entries from '../partners/entries-store.ts'
import type { ApplyDeps } from '../partners/operations.ts'
import { operation, operatorErrors } from './documents.ts'
import { Partners, PartnersQuery } from './partner-schemas.ts'

export const partnerAdminRoutes: FastifyPluginAsyncTypebox<Pick<ApplyDeps, 'database'>> = async (app, { database }) => {
  app.get(
    '/partners',
    {
      schema: {
        ...operation(
          'Partners',
          'readPartners',
          'The directory of partners, countries, payment systems and mobile operators',
          'Every entry has the shape of the directory file: changed, it can be sent to `POST /admin/directory` again, alone or with ' +
            'others, below `countries`, `paymentSystems`, `banks`, `merchants` or `esim.operators`. Merchants come page by page.',
        ),
        querystring: PartnersQuery,
        response: { 200: Partners, ...operatorErrors() },
      },
    },
    async request => {
      const { search, ...page } = request.query
      const pattern = search ? namePattern(search) : null
      const asked = { pattern, limit: page.pageSize, offset: skipped(page) }
      const { merchants, totalItems } = await entries.listMerchants(database, asked)
      const views = merchants.map(({ createdAt, updatedAt, ...merchant }) => ({
        ...merchant,
        createdAt: createdAt.toISOString(),
        updatedAt: updatedAt.toISOString(),
      }))
      return {
        countries: await entries.listCountries(database),
        paymentSystems: await entries.listPaymentSystems(database),
        banks: await entries.listBanks(database),
        merchants: pageView(views, page, totalItems),
        mobileOperators: await entries.listMobileOperators(database),
      } as never
    },
  )
}
