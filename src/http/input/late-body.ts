/** Handles bodies that do not end in time. */
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../errors.ts'
import { hasBody } from './optional-body.ts'

/** How long to drain a body after responding. */
const answeredBodyMs = 8_000

/** Closes the connection of an answered request, unless its body ends in time. */
export function endLateBody(request: FastifyRequest): void {
  whenBodyIsLate(request, answeredBodyMs, () => request.raw.socket.destroySoon())
}

/** Answers 408 and closes the connection, unless the body ends within `ms`. */
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
 * Calls `act` unless the body ends or the connection closes within `ms`. The request itself emits neither event when its body was
 * not read to the end.
 */
function whenBodyIsLate({ raw, headers }: FastifyRequest, ms: number, act: () => void): void {
  // No end is emitted for a body that is not announced, or that has ended already.
  if (!hasBody(headers) || raw.complete) return
  const dueMs = performance.now() + ms
  // Most bodies arrive together with their headers and need no timer.
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
