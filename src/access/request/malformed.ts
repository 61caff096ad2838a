/** Bodies that are no attempt to get a token: an address may send so many of them (contract/limits.md). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerError, statusOfError } from '../../http/errors.ts'
import type { AddressLimit } from '../throttle.ts'

/** To be spread into the options of each route where people and systems log in. */
export const countMalformed = (limit: AddressLimit) => ({
  onRequest: async (request: FastifyRequest) => {
    addresses.set(request, request.ip)
  },
  preHandler: async (request: FastifyRequest) => {
    attempts.add(request)
  },
  errorHandler: async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const isMalformed = !attempts.has(request) && statusOfError(error, request) === 400
    const refusal = isMalformed ? await limit(addresses.get(request) ?? '').catch((tooMany: unknown) => tooMany) : null
    answerError(refusal ?? error, request, reply)
    return reply
  },
})

/** Where requests came from: a connection that has gone does not tell it any more. */
const addresses = new WeakMap<FastifyRequest, string>()

/** Requests whose body was fine. */
const attempts = new WeakSet<FastifyRequest>()
