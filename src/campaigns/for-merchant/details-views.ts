/** Sends the answer with the details of a campaign, after a read or an edit. */
import type { FastifyReply } from 'fastify'
import type { MerchantCaller } from '../../caller.ts'
import type { Clock } from '../../clock.ts'
import { ref } from '../../http/openapi/operations.ts'
import { etagHeader } from '../guard-schemas.ts'
import { versionTag } from '../lifecycle/expected-version.ts'
import type { Details } from './details-store.ts'
import { CampaignDetails } from './schemas.ts'
import { detailsText } from './views.ts'

export const detailsAnswer = (description: string) => ({
  ...ref(CampaignDetails),
  description,
  headers: { etag: etagHeader },
})

export const notOwn = {
  403: 'A bank calls, the role does not permit changes, or the campaign belongs to another merchant',
  404: 'There is no such campaign',
}

/** Answers with the details of a campaign as JSON text, and with what the calling merchant may do. */
export function sendDetails(
  reply: FastifyReply,
  campaign: Details,
  { merchant, clock }: { merchant: MerchantCaller; clock: Clock },
): FastifyReply {
  return sendVersion(reply, versionTag(campaign.version), detailsText(campaign, merchant, clock.now()))
}

/**
 * Answers with one version of a campaign as JSON text. The `ETag` is for `If-Match` only. The answer is never 304, because parts
 * of the details change without a new version: the directory's terminals, names, and what the merchant may do now.
 */
export function sendVersion(reply: FastifyReply, tag: string, text: string): FastifyReply {
  reply.header('etag', tag)
  return reply.type('application/json; charset=utf-8').send(text)
}
