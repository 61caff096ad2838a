/** Detects that the client of a request has disconnected. */
import type { FastifyReply } from 'fastify'

/** Returns a signal that aborts when the client has disconnected, or has got its answer. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (reply.raw.closed) controller.abort()
  else reply.raw.once('close', () => controller.abort())
  return controller.signal
}
