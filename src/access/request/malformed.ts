/** Limits how many malformed bodies an address may send to the routes for logins (contract/limits.md). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerError, statusOfError } from '../../http/errors.ts'
import type { AddressLimit } from '../throttle.ts'

/** Spread this into the options of each route where people or systems log in. */
export const countMalformed = (limit: AddressLimit) => ({
  preHandler: async (request: FastifyRequest) => {
    attempts.add(request)
  },
  errorHandler: async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const isMalformed = !attempts.has(request) && statusOfError(error, request) === 400
    const refusal = isMalformed ? await limit(request.ip).catch((tooMany: unknown) => tooMany) : null
    answerError(refusal ?? error, request, reply)
    return reply
  },
})

/** Requests with a valid body. */
const attempts = new WeakSet<FastifyRequest>()
