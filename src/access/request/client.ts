/** The address and program of a person who logs in. */
import type { FastifyRequest } from 'fastify'
import type { Trace } from '../../caller.ts'
import { plainAddress } from '../../text/addresses.ts'
import type { Client } from '../log-in.ts'
import { traceOf } from './trace.ts'

/** @param via the interface through which the person logs in, if the request does not show it */
export const clientOf = (request: FastifyRequest, via?: Trace['via']): Client => ({
  address: plainAddress(request.ip),
  userAgent: (request.headers['user-agent'] ?? '').replace(/[^\x20-\x7e]/g, ''),
  trace: { ...traceOf(request, null), ...(via && { via }) },
  namePerson: person => {
    request.shownAs = person
  },
})
