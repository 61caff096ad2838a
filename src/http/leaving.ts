import type { FastifyReply } from 'fastify'

/** Aborts when the client has gone, or has its answer. */
export function leaving(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}
