/** How the details of a campaign are answered, to whoever reads or has edited it. */
import type { FastifyReply } from 'fastify'
import type { Clock } from '../clock.ts'
import { ref } from '../http/openapi.ts'
import type { Details } from './details-store.ts'
import { versionTag } from './expected-version.ts'
import { etagHeader } from './guard-schemas.ts'
import { CampaignDetails } from './merchant-schemas.ts'
import { detailsText } from './merchant-views.ts'

export const detailsAnswer = (description: string) => ({
  ...ref(CampaignDetails),
  description,
  headers: { etag: etagHeader },
})

export const notOwn = {
  403: 'A bank calls, the role does not permit changes, or the campaign belongs to another merchant',
  404: 'There is no such campaign',
}

/** The text as it is: the long lists in it were written when they changed. */
export function sendDetails(reply: FastifyReply, campaign: Details, { clock }: { clock: Clock }): FastifyReply {
  return reply
    .header('etag', versionTag(campaign.version))
    .type('application/json; charset=utf-8')
    .send(detailsText(campaign, clock.now()))
}
