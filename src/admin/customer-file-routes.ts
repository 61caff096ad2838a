/** Routes with which the operator adds customers to the directory and removes them from it. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { withOrigin } from '../audit-log/request/origin.ts'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { count } from '../http/schemas.ts'
import { csvType, takeUploads, uploadRoute, withUpload } from '../http/upload/upload-route.ts'
import { importCustomers } from '../segments/customers.ts'
import { forgetCustomers } from '../segments/forget.ts'
import { closed, csvBody, operation, operatorErrors } from './request/documents.ts'

const ImportQuery = Type.Object(
  { bank: Type.String({ minLength: 1, maxLength: 64, description: 'Code of the bank', examples: ['alpha'] }) },
  closed,
)
const importSchema = {
  ...operation(
    'Customers',
    'importCustomers',
    'Load customers of a bank into the directory',
    'CSV with the header `customerId`, of any length, all or nothing. A file that names a customer of another bank is ' +
      'refused: customers are never moved without notice.',
  ),
  consumes: ['text/csv'],
  querystring: ImportQuery,
  body: csvBody('The customers'),
  response: {
    200: Type.Object(
      { imported: count('New customers', 1000), duplicates: count('Lines whose customer was there already') },
      { description: 'What was loaded' },
    ),
    ...operatorErrors({ 404: 'There is no such bank' }),
  },
}

const forgetSchema = {
  ...operation(
    'Customers',
    'forgetCustomers',
    'Forget customers of a bank',
    'CSV with the header `customerId`. They leave the directory, and then every segment of the bank. Run it again ' +
      'with the same file ' +
      'when it was cut off.',
  ),
  consumes: ['text/csv'],
  querystring: ImportQuery,
  body: csvBody('The customers'),
  response: {
    200: Type.Object(
      {
        forgotten: count('Customers that left the directory', 2),
        unknown: count('Ids of the file that were no customers of this bank'),
      },
      { description: 'What was forgotten' },
    ),
    ...operatorErrors({ 404: 'There is no such bank' }),
  },
}

/** These routes are a separate plugin, because only they accept a file. */
export const customerFileAdminRoutes: FastifyPluginAsyncTypebox<Pick<CampaignDeps, 'database' | 'clock'>> = async (
  app,
  deps,
) => {
  takeUploads(app, csvType)

  app.post('/customers', { ...uploadRoute(csvType), schema: importSchema }, async (request, reply) =>
    withUpload(request, reply, source => importCustomers(withOrigin(deps, request), { ...request.query, source })),
  )

  app.post('/customers/forget', { ...uploadRoute(csvType), schema: forgetSchema }, async (request, reply) =>
    withUpload(request, reply, source => forgetCustomers(withOrigin(deps, request), { ...request.query, source })),
  )
}
