/**
 * Rules for answers whose body is a stream. Fastify does not call the hook of `watchStreams` for answers of
 * `long-answer.ts`.
 */
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../errors.ts'

/**
 * Connections that send a stream to a client of HTTP/1.0. This version has no chunks, so the end of the connection
 * marks the end of the body.
 */
const withoutChunks = new WeakSet<Socket>()

const checkAccessEveryMs = 2_000

/**
 * Call this before a stream is sent as an answer. A stream may take minutes, so it breaks off when its caller loses access
 * (contract/access.md, "Losing access").
 */
export function beginStream(request: FastifyRequest, reply: FastifyReply): void {
  const { httpVersion, socket } = request.raw
  if (httpVersion === '1.0') withoutChunks.add(socket)
  // The client has left already, so 'close' will not be emitted again, and nothing would stop the timer.
  if (reply.raw.closed) return
  const timer = setInterval(() => {
    if (hasAccess(request)) return
    request.log.info('a long answer breaks off, because its caller has lost access')
    breakOff(socket)
  }, checkAccessEveryMs).unref()
  reply.raw.once('close', () => clearInterval(timer))
}

function hasAccess(request: FastifyRequest): boolean {
  try {
    request.requireAccess?.()
    return true
  } catch (error) {
    if (error instanceof DomainError) return false
    throw error
  }
}

/**
 * Ends a connection in the middle of an answer, so that the client notices. HTTP/1.0 needs a reset for this, because an
 * orderly close marks the end of the body.
 */
export function breakOff(socket: Socket | null): void {
  if (socket && withoutChunks.has(socket)) socket.resetAndDestroy()
  else socket?.destroy()
}

/**
 * The body for an answer to HEAD whose length is unknown. Fastify announces no length for a stream, but 0 for a missing
 * body.
 */
export const unknownBody = (): Readable => Readable.from([])

/**
 * Closes the body of an answer to HEAD without reading it. Otherwise Fastify would read it to its end after the answer,
 * and a file would be read from the database outside of all limits. For other methods, an error of the body breaks off
 * the connection.
 */
export function watchStreams(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isHead = request.method === 'HEAD'
    if (!(payload instanceof Readable)) return done(null, isHead && reply.statusCode === 304 ? unknownBody() : payload)
    if (!isHead) {
      beginStream(request, reply)
      // If no headers were sent yet, Fastify answers with the error, so the connection is not broken off.
      payload.once('error', () => {
        if (reply.raw.headersSent) breakOff(request.raw.socket)
      })
      return done(null, payload)
    }
    payload.destroy()
    done(null, unknownBody())
  })
}
