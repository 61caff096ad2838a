/** Where a person sits who logs in. */
import type { FastifyRequest } from 'fastify'
import { plainAddress } from '../../text/addresses.ts'
import type { Client } from '../log-in.ts'

export const clientOf = (request: FastifyRequest): Client => ({
  address: plainAddress(request.ip),
  userAgent: (request.headers['user-agent'] ?? '').replace(/[^\x20-\x7e]/g, ''),
})
