/** Segments of customers, below `/portal` (contract/campaigns.md, "Segments"). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { merchantOf } from '../access/request/authenticate.ts'
import { onlyMerchantsOfCampaigns } from '../access/request/callers.ts'
import { GuardHeaders, guardOf, stale } from '../campaigns/guard-schemas.ts'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'
import { CampaignPath, campaignErrors } from '../campaigns/schemas.ts'
import { idempotentUpload } from '../http/idempotency-key.ts'
import { closed, secured, uuid } from '../http/schemas.ts'
import { formType } from '../http/upload/file-form.ts'
import { createUploadLimit, withFileForm } from '../http/upload/file-upload.ts'
import { takeUploads, uploadRoute } from '../http/upload/upload-route.ts'
import { answerUploadOnce } from '../idempotency/request/once.ts'
import { maxIdCharacters } from './customer-rules.ts'
import { formSegment, maxSegmentLines } from './operations.ts'
import { segmentView } from './views.ts'

const uploadsAtOnce = 4
const mebibyte = 1024 * 1024
const limits = { maxBytes: 256 * mebibyte, maxMs: 30 * 60_000, texts: {} }

const lines = maxSegmentLines.toLocaleString('en')
const SegmentForm = Type.Object(
  {
    file: Type.Unsafe<string>({
      type: 'string',
      format: 'binary',
      contentMediaType: 'text/csv',
      description:
        `The customers: CSV with the header \`customerId\`, at most ${lines} lines and 256 MiB, UTF-8 with or without a byte-order ` +
        `mark. An id has 1 to ${maxIdCharacters} characters.`,
    }),
  },
  closed,
)

const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })
const Segment = Type.Object(
  {
    customersCount: count('The sum over the banks', 1230),
    banks: Type.Array(
      Type.Object({
        id: uuid('The bank'),
        customersCount: count('Its customers in the segment, rounded down to tens; 0 below 20', 1230),
      }),
      { description: 'The banks that take part or have not decided yet, and take segments' },
    ),
    notTaken: Type.Object(
      {
        malformed: Type.Object(
          {
            count: count('How many lines', 1),
            lines: Type.Array(Type.Integer({ minimum: 2 }), {
              description: 'The numbers of the first 100; line 1 is the header',
              examples: [[404]],
            }),
          },
          { description: 'Lines without a valid id' },
        ),
      },
      {
        description: 'Lines that were skipped. Unknown ids and customers of other banks are left out without notice',
      },
    ),
  },
  { description: 'The new segment' },
)

export const segmentRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyMerchantsOfCampaigns(app, deps)
  takeUploads(app, formType)
  const places = createUploadLimit(uploadsAtOnce)

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
          'The platform knows to which bank each customer belongs; every bank that takes part, or has not decided yet, gets ' +
          'its own ' +
          'customers and sees no others. Ids that nobody knows, and customers of other banks, do not enter, and the answer ' +
          'is silent ' +
          'about them. Numbers are rounded for each bank: down to tens, 0 below 20; banks see theirs exactly. Malformed ' +
          'lines do not ' +
          'enter and are named. A customer who is named twice counts once. The new segment replaces the one before whole. Possible ' +
          'until the period ends, 20 times a day for a campaign and 100 times for a merchant (UTC). A bank that is invited ' +
          'later has ' +
          'no segment until it is formed anew.',
        headers: GuardHeaders,
        params: CampaignPath,
        body: SegmentForm,
        response: {
          200: Segment,
          ...campaignErrors({
            400: 'The form or the file is not as described, the period has ended, or the campaign is closed',
            404: 'There is no such campaign',
            412: stale,
            413: 'The file is larger than 256 MiB',
            415: 'The body is no multipart/form-data',
            429: 'Too many requests, or too many segments were formed today; try again after `Retry-After` seconds',
            503: 'The platform is temporarily unavailable, or other uploads have been running for too long; try again after `Retry-After` seconds',
          }),
        },
      },
    },
    async (request, reply) => {
      const merchant = merchantOf(request)
      const rules = { ...limits, places, partnerId: merchant.merchantId }
      const input = { merchant, ...request.params, ...guardOf(request) }
      return withFileForm(request, reply, rules, (openForm, signal) => {
        const options = { deps, status: 200, openForm, signal }
        return answerUploadOnce(request, reply, options, async (lent, open) =>
          segmentView(await formSegment(lent, { ...input, open, signal })),
        )
      })
    },
  )
}
