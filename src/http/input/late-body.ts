/** Handles bodies that do not end in time. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../errors.ts'
import { hasBody } from './optional-body.ts'

/** How long to drain a body after responding. */
const answeredBodyMs = 8_000

/** Closes the connection of an answered request, unless its body ends in time. */
export function endLateBody(request: FastifyRequest): void {
  whenBodyIsLate(request, answeredBodyMs, socket => socket.destroySoon())
}

/** Answers 408 and closes the connection, unless the body ends within `ms`. */
export function refuseLateBody(request: FastifyRequest, reply: FastifyReply, ms: number): void {
  whenBodyIsLate(request, ms, socket => {
    if (!reply.sent)
      sendError(request, reply.header('connection', 'close'), {
        statusCode: 408,
        details: 'The body took too long',
      })
    socket.destroySoon()
  })
}

/**
 * Calls `act` after `ms`, unless the body has ended or the connection has closed by then. We learn from the socket that
 * the connection has closed, because a request whose body was not read to its end emits no event for this.
 */
function whenBodyIsLate({ raw, headers }: FastifyRequest, ms: number, act: (socket: Socket) => void): void {
  // Node.js emits no `end` event if the headers announce no body, or if the body has ended already.
  if (!hasBody(headers) || raw.complete) return
  // Node.js removes the socket from a request whose connection was closed.
  const socket = raw.socket as Socket | null
  if (socket === null) return
  const dueMs = performance.now() + ms
  // Most bodies arrive together with their headers and need no timer.
  setImmediate(() => {
    if (!raw.complete && !socket.destroyed) watchBody(raw, socket, dueMs - performance.now(), act)
  })
}

function watchBody(raw: IncomingMessage, socket: Socket, ms: number, act: (socket: Socket) => void): void {
  const settle = () => {
    clearTimeout(timer)
    raw.off('end', settle)
    socket.off('close', settle)
  }
  const timer = setTimeout(() => {
    settle()
    act(socket)
  }, ms)
  raw.once('end', settle)
  socket.once('close', settle)
}
