/**
 * Routes that upload reports. The routes of banks and of merchants are two plugins, so that each refuses the other kind
 * of caller before it reads the body.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bankOf, merchantOf } from '../access/request/authenticate.ts'
import { onlyBanksOfCampaigns, onlyMerchantsOfCampaigns } from '../access/request/callers.ts'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'
import { CampaignPath, campaignErrors } from '../campaigns/schemas.ts'
import { idempotentUpload } from '../http/idempotency-key.ts'
import { cashbackErrors, secured } from '../http/schemas.ts'
import { formType } from '../http/upload/file-form.ts'
import { withFileForm } from '../http/upload/file-upload.ts'
import { takeUploads, uploadRoute } from '../http/upload/upload-route.ts'
import { answerUploadOnce } from '../idempotency/request/once.ts'
import type { ConcurrencyLimit } from '../work/concurrency-limit.ts'
import type { Side } from './differences.ts'
import type { PartParams } from './operations.ts'
import * as schemas from './schemas.ts'
import { tryReport, uploadReport } from './uploads.ts'
import { triedView, uploadedView } from './views.ts'

export type UploadRoutesDeps = CampaignRoutesDeps & { places: ConcurrencyLimit }

const mebibyte = 1024 * 1024
const limits = { maxBytes: 256 * mebibyte, maxMs: 30 * 60_000 }

const common = { tags: ['Reconciliation'], security: secured, consumes: ['multipart/form-data'] }
const rules =
  'A report with errors of form is refused whole; the first 20 are named by line, column and value. A line that is well-formed but ' +
  'against the terms of the campaign is accepted and shown as a difference. With `dryRun=true` the report is only ' +
  'checked: the answer is 200, nothing is stored, and the stage stays the ' +
  'same. If the client disconnects before the answer, the report is discarded, unless it was already being ' +
  'committed; read the reconciliation to find out.'
const refusals = {
  400: 'No report of this side is awaited at this stage; the form or the file is not as described; or another upload came first',
  413: 'The file is larger than 256 MiB',
  503: 'The platform is temporarily unavailable, or other uploads have been running for too long; try again after `Retry-After` seconds',
}

export const bankUploadRoutes: FastifyPluginAsyncTypebox<UploadRoutesDeps> = async (app, deps) => {
  onlyBanksOfCampaigns(app, deps)
  takeUploads(app, formType)

  app.post(
    '/cashbacks/:cashbackId/bank-report',
    {
      ...idempotentUpload(uploadRoute(formType)),
      schema: {
        ...common,
        operationId: 'uploadBankReport',
        summary: 'Upload the bank’s report',
        description: `The first report after the period, or an updated one after the merchant’s. It goes to the merchant. ${rules}`,
        params: CampaignPath,
        querystring: schemas.UploadQuery,
        body: schemas.BankReportForm,
        response: {
          200: schemas.Tried,
          201: schemas.Uploaded,
          ...cashbackErrors({ ...refusals, 404: 'There is no such campaign, or the bank is not invited' }),
        },
      },
    },
    async (request, reply) => {
      const caller = bankOf(request)
      const input = { caller, cashbackId: request.params.cashbackId, bankId: caller.bankId }
      return upload(deps, request, reply, {
        ...input,
        ...request.query,
        side: 'bank',
      })
    },
  )
}

export const merchantUploadRoutes: FastifyPluginAsyncTypebox<UploadRoutesDeps> = async (app, deps) => {
  onlyMerchantsOfCampaigns(app, deps)
  takeUploads(app, formType)

  app.post(
    '/cashbacks/:cashbackId/banks/:bankId/merchant-report',
    {
      ...idempotentUpload(uploadRoute(formType)),
      schema: {
        ...common,
        operationId: 'uploadMerchantReport',
        summary: 'Answer the bank’s report with the merchant’s own',
        description:
          'The two are matched on `transactionId`, and the bank is asked for an updated report. The column `cashbackAmount` or its ' +
          `values may be left out. ${rules}`,
        params: schemas.PartPath,
        querystring: schemas.UploadQuery,
        body: schemas.MerchantReportForm,
        response: {
          200: schemas.Tried,
          201: schemas.Uploaded,
          ...campaignErrors({ ...refusals, 404: 'There is no such campaign, or the bank is not invited to it' }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId, bankId } = request.params
      const input = { caller: merchantOf(request), cashbackId, bankId }
      return upload(deps, request, reply, {
        ...input,
        ...request.query,
        side: 'merchant',
      })
    },
  )
}

async function upload(
  deps: UploadRoutesDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { dryRun = false, ...asked }: PartParams & { side: Side; dryRun?: boolean },
): Promise<FastifyReply> {
  const { caller, side } = asked
  const texts: Record<string, number> = side === 'merchant' ? { comment: schemas.maxCommentCharacters } : {}
  const partnerId = caller.type === 'bank' ? caller.bankId : caller.merchantId
  const rules = { ...limits, texts, places: deps.places, partnerId }
  return withFileForm(request, reply, rules, async (openForm, signal) => {
    const opening = (openThis: typeof openForm) => async () => {
      const { fileName, bytes, texts } = await openThis()
      return { fileName, bytes, comment: () => texts.get('comment') || null }
    }
    if (dryRun)
      return reply.code(200).send(triedView(await tryReport(deps, { ...asked, open: opening(openForm), signal })))
    const params = { deps, status: 201, openForm, signal }
    return answerUploadOnce(request, reply, params, async (lent, open) =>
      uploadedView(await uploadReport(lent, { ...asked, open: opening(open), signal })),
    )
  })
}
