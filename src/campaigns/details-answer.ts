/** How the details of a campaign are answered, to whoever reads or has edited it. */
import type { FastifyReply } from 'fastify'
import type { Clock } from '../clock.ts'
import { ref } from '../http/openapi.ts'
import type { Details } from './details-store.ts'
import { CampaignDetails } from './merchant-schemas.ts'
import { detailsText } from './merchant-views.ts'

const etag = { type: 'string', description: 'Version of the campaign, for `If-Match`', examples: ['"7"'] }

export const detailsAnswer = (description: string) => ({ ...ref(CampaignDetails), description, headers: { etag } })

export const notOwn = {
  403: 'A bank calls, the role does not permit changes, or the campaign belongs to another merchant',
  404: 'There is no such campaign',
}

/** The strong entity tag of a campaign's details. */
export const detailsTag = (version: number): string => `"${version}"`

/** The text as it is: the long lists in it were written when they changed. */
export function sendDetails(reply: FastifyReply, campaign: Details, { clock }: { clock: Clock }): FastifyReply {
  return reply
    .header('etag', detailsTag(campaign.version))
    .type('application/json; charset=utf-8')
    .send(detailsText(campaign, clock.now()))
}
