/** Segments of customers, below `/portal` (behaviour.md, sections 3, 7 and 8). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type CampaignRoutesDeps, onlyMerchants } from '../campaigns/callers.ts'
import { GuardHeaders, guardOf, stale } from '../campaigns/guard-schemas.ts'
import { CampaignPath, cashbackErrors, closed, NoQuery, secured, uuid } from '../campaigns/schemas.ts'
import { merchantOf } from '../http/authenticate.ts'
import { formType } from '../http/file-form.ts'
import { createUploadTurns, withFileForm } from '../http/file-upload.ts'
import { answerUploadOnce, idempotentUpload } from '../http/idempotency.ts'
import { takeUploads, uploadRoute } from '../http/upload-route.ts'
import { mostIdCharacters } from './customer-lines.ts'
import { formSegment, mostSegmentLines } from './operations.ts'
import { segmentView } from './views.ts'

const uploadsAtOnce = 4
const mebibyte = 1024 * 1024
const limits = { mostBytes: 256 * mebibyte, longestMs: 30 * 60_000, texts: {} }

const lines = mostSegmentLines.toLocaleString('en')
const SegmentForm = Type.Object(
  {
    file: Type.Unsafe<string>({
      type: 'string',
      format: 'binary',
      contentMediaType: 'text/csv',
      description:
        `The customers: CSV with the header \`customerId\`, at most ${lines} lines and 256 MiB, UTF-8 with or without a byte-order ` +
        `mark. An id has 1 to ${mostIdCharacters} characters.`,
    }),
  },
  closed,
)

const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })
const Segment = Type.Object(
  {
    customersCount: count('Customers in the segment, over all banks', 3),
    banks: Type.Array(Type.Object({ id: uuid('The bank'), customersCount: count('Its customers in the segment', 2) }), {
      description: 'The banks that take part or have not decided yet',
    }),
    notTaken: Type.Object(
      {
        count: count('How many customers of the file did not enter', 1),
        customerIds: Type.Array(Type.String(), {
          description: 'The first 100 of them, in the order of the file',
          examples: [['C-404']],
        }),
      },
      { description: 'Customers that nobody knows, or of banks that do not take part' },
    ),
  },
  { description: 'The segment that was formed' },
)

export const segmentRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyMerchants(app as unknown as FastifyInstance, deps)
  takeUploads(app as unknown as FastifyInstance, formType)
  const turns = createUploadTurns(uploadsAtOnce)

  app.put(
    '/cashbacks/:cashbackId/segment',
    {
      ...idempotentUpload(uploadRoute(formType)),
      schema: {
        tags: ['Portal'],
        security: secured,
        consumes: ['multipart/form-data'],
        operationId: 'formSegment',
        summary: 'Form the segment of a campaign from a file of customers',
        description:
          'The platform knows to which bank each customer belongs; every bank that takes part, or has not decided yet, gets its own ' +
          'customers and sees no others. A customer who is named twice counts once. The new segment replaces the one before whole; ' +
          'a file with a faulty line is refused, its first 20 faults named by line. Possible until the period ends. A bank that is ' +
          'invited later has no segment until it is formed anew.',
        headers: GuardHeaders,
        params: CampaignPath,
        querystring: NoQuery,
        body: SegmentForm,
        response: {
          200: Segment,
          ...cashbackErrors({
            400: 'The form or the file is not as described, the period has ended, or the campaign is closed',
            404: 'There is no such campaign',
            412: stale,
            413: 'The file is larger than 256 MiB',
            415: 'The body is no multipart/form-data',
            503: 'The platform is away for a moment, or other uploads have been running for too long; try again after `Retry-After` seconds',
          }),
        },
      },
    },
    async (request, reply) => {
      const merchant = merchantOf(request)
      const rules = { ...limits, turns, partnerId: merchant.merchantId }
      const asked = { merchant, ...request.params, ...guardOf(request) }
      return withFileForm(request as FastifyRequest, reply as FastifyReply, rules, (openForm, left) => {
        const given = { deps, status: 200, openForm, left }
        return answerUploadOnce(request as FastifyRequest, reply as FastifyReply, given, async (lent, open) =>
          segmentView(await formSegment(lent, { ...asked, open, left })),
        )
      })
    },
  )
}
