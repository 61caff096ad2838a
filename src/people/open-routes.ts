/** Routes below `/portal` that need no login: accept a link, and report a forgotten password. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Refusals } from '../access/refusals.ts'
import { countMalformed } from '../access/request/malformed.ts'
import { traceOf } from '../access/request/trace.ts'
import type { AddressLimit, LinkConflicts } from '../access/throttle.ts'
import { disconnectSignal } from '../http/answer/disconnect-signal.ts'
import { addressPrefixes } from '../text/addresses.ts'
import type { ConcurrencyLimit } from '../work/concurrency-limit.ts'
import { acceptLink } from './invitations.ts'
import type { PeopleDeps } from './managers.ts'
import { requestReset } from './passwords.ts'
import { portalErrors, tags } from './request/documents.ts'
import * as schemas from './schemas.ts'

export type OpenRoutesDeps = PeopleDeps & {
  malformed: AddressLimit
  hashingPlaces: ConcurrencyLimit
  linkConflicts: LinkConflicts
  /** Whether links and requests of the platform's own people are accepted at this port. */
  admitsStaff: boolean
  refusals: Pick<Refusals, 'refresh'>
}

export const openPeopleRoutes: FastifyPluginAsyncTypebox<OpenRoutesDeps> = async (app, deps) => {
  app.post(
    '/invitations/accept',
    {
      ...countMalformed(deps.malformed),
      schema: {
        tags,
        security: [],
        operationId: 'acceptLink',
        summary: 'Accept an invitation, or set a new password by a link',
        description: 'It does not log the person in. A new password ends all sessions. The second factor stays.',
        body: schemas.AcceptBody,
        response: {
          201: schemas.Joined,
          ...portalErrors({
            400: 'The link is wrong, was used or is over; or the password is refused',
            409: 'The login is taken: send another one, the link stays valid',
            429: 'Too many malformed requests from this address, or too many taken logins with this link: wait for `Retry-After` seconds',
          }),
        },
      },
    },
    async (request, reply) => {
      const end = await deps.hashingPlaces.take(addressPrefixes(request.ip), disconnectSignal(reply))
      try {
        const joined = await acceptLink({ ...deps, trace: traceOf(request, null) }, request.body)
        await deps.refusals.refresh()
        return reply.code(201).send(joined)
      } finally {
        end()
      }
    },
  )

  app.post(
    '/password-resets',
    {
      ...countMalformed(deps.malformed),
      schema: {
        tags,
        security: [],
        operationId: 'requestPasswordReset',
        summary: 'Ask for a link to a new password',
        description:
          'It is mailed if the login exists and has an address, at most three times an hour. The answer is the same in all cases.',
        body: schemas.ForgottenBody,
        response: {
          202: { type: 'null', description: 'A mail is sent if the person exists and has an address' },
          ...portalErrors({ 429: 'Too many requests from this address: wait for `Retry-After` seconds' }),
        },
      },
    },
    async (request, reply) => {
      const { typeAccount, login } = request.body
      await requestReset(deps, { accountType: typeAccount, login })
      // Fastify would send `null` as text, so the answer is sent here without a body.
      return (reply as FastifyReply).code(202).send()
    },
  )
}
