/** What is done about a body that does not come to its end. */
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../errors.ts'
import { hasBody } from './optional-body.ts'

/** What is still sent once the request has its answer is read for so long. */
const answeredBodyMs = 8_000

/** Ends the connection of a request that has its answer, unless its body comes to its end in time. */
export function endLateBody(request: FastifyRequest): void {
  whenBodyIsLate(request, answeredBodyMs, () => request.raw.socket.destroySoon())
}

/** Answers 408 and ends the connection unless the body has come to its end within `ms`. */
export function refuseLateBody(request: FastifyRequest, reply: FastifyReply, ms: number): void {
  whenBodyIsLate(request, ms, () => {
    if (!reply.sent)
      sendError(request, reply.header('connection', 'close'), {
        statusCode: 408,
        details: 'The body took too long',
      })
    request.raw.socket.destroySoon()
  })
}

/**
 * Calls `act` unless the body has come to its end within `ms`, or the connection has gone: of a body that was not read to its end the
 * request itself tells neither.
 */
function whenBodyIsLate({ raw, headers }: FastifyRequest, ms: number, act: () => void): void {
  // Of a body that is not announced no end is told, and of one that is here already none is told again.
  if (!hasBody(headers) || raw.complete) return
  const dueMs = performance.now() + ms
  // Most bodies come in the same piece as their headers: of those nothing has to be watched.
  setImmediate(() => {
    if (!raw.complete && !raw.socket.destroyed) watchBody(raw, dueMs - performance.now(), act)
  })
}

function watchBody(raw: IncomingMessage, ms: number, act: () => void): void {
  const settle = () => {
    clearTimeout(timer)
    raw.off('end', settle)
    raw.socket.off('close', settle)
  }
  const timer = setTimeout(() => {
    settle()
    act()
  }, ms)
  raw.once('end', settle)
  raw.socket.once('close', settle)
}
