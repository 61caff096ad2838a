/**
 * Routes with which the operator reads the customer directory: how many customers each bank has, which bank a customer
 * belongs to, and all data of one customer. `customer-file-routes.ts` has the routes that take files of customers.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { EntryDeps } from '../audit-log/batched-entries.ts'
import { originOf } from '../audit-log/request/origin.ts'
import { DomainError } from '../errors.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { count, instant, text, uuid } from '../http/schemas.ts'
import { countCustomers, findCustomerBank } from '../segments/customer-lookup-store.ts'
import { exportCustomer } from '../segments/forget.ts'
import { closed, operation, operatorErrors } from './request/documents.ts'

const bank = { id: uuid('The bank'), code: text('Its code', 'alpha'), name: text('Its name', 'Alpha Bank') }

const Customers = Type.Object(
  {
    total: count('Customers in all', 150000),
    banks: Type.Array(Type.Object({ ...bank, customers: count('Its customers', 100000) }), { description: 'By code' }),
  },
  { description: 'Every bank with how many customers the directory has of it' },
)
const customerId = Type.String({ minLength: 1, maxLength: 128, description: 'The customer', examples: ['100045'] })

/**
 * The ids of customers are personal data. They are sent in the body, because proxies and browsers store the URLs of
 * requests.
 */
const FindBody = Type.Object({ customerId }, closed)
const ExportBody = Type.Object(
  {
    customerId,
    bank: Type.String({ minLength: 1, maxLength: 64, description: 'Code of the bank', examples: ['alpha'] }),
  },
  closed,
)
const CustomerExport = Type.Object(
  {
    customerId,
    bank: Type.Object(bank, { title: 'BankReference', description: 'The bank' }),
    inDirectory: Type.Boolean({ description: 'The customer directory has the customer' }),
    segments: Type.Array(
      Type.Object({
        cashbackId: uuid('The campaign'),
        campaignName: text('Its name', 'Autumn cashback'),
        segmentId: uuid('The bank’s segment'),
        formedAt: instant('When the merchant built it', '2026-11-21T08:00:00.000Z'),
        sourceFileName: text('The merchant’s file', 'customers.csv'),
      }),
      { description: 'Segments of the bank that name the customer, the latest first' },
    ),
  },
  { description: 'All stored data of the customer. Reports and orders name no customer' },
)

export const customerAdminRoutes: FastifyPluginAsyncTypebox<ReadDeps & EntryDeps> = async (
  app,
  { pageReads, costlyReads, batchedEntries },
) => {
  app.get(
    '/customers',
    {
      schema: {
        ...operation('Customers', 'countCustomers', 'How many customers each bank has', 'In the customer directory.'),
        response: { 200: Customers, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const database = await pageReads.begin(request, reply)
      const banks = await countCustomers(database)
      return { total: banks.reduce((sum, { customers }) => sum + customers, 0), banks }
    },
  )

  app.post(
    '/customers/find',
    {
      config: { isSearch: true },
      schema: {
        ...operation('Customers', 'findCustomer', 'Find the bank of a customer', 'The id is compared byte by byte.'),
        body: FindBody,
        response: {
          200: Type.Object(
            { customerId, bank: Type.Object(bank, { title: 'BankReference', description: 'The bank' }) },
            { description: 'The customer' },
          ),
          ...operatorErrors({ 404: 'The directory does not know the id' }),
        },
      },
    },
    async (request, reply) => {
      const { customerId } = request.body
      const database = await pageReads.begin(request, reply)
      const bank = await findCustomerBank(database, customerId)
      if (!bank) throw new DomainError('not-found', 'The customer directory does not know this id')
      return { customerId, bank }
    },
  )

  app.post(
    '/customers/export',
    {
      schema: {
        ...operation(
          'Customers',
          'exportCustomer',
          'Export the data of one customer',
          'For an access request. The id is compared byte by byte. Recorded in the bank’s audit log, without the id.',
        ),
        body: ExportBody,
        response: {
          200: CustomerExport,
          ...operatorErrors({
            403: 'A partner calls, or a platform user with the role `viewer`',
            404: 'There is no such bank',
          }),
        },
      },
    },
    async (request, reply) => {
      const { segments, ...kept } = await costlyReads.read(request, reply, database =>
        exportCustomer({ database }, request.body),
      )
      const owner = { type: 'bank', id: kept.bank.id } as const
      const fact = { action: 'customers.exported', object: owner, owner }
      await batchedEntries.write(originOf(request), fact)
      return { ...kept, segments: segments.map(one => ({ ...one, formedAt: one.formedAt.toISOString() })) }
    },
  )
}
