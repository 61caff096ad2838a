/** Rules for answers whose body is a stream. Fastify does not call these hooks for the answers of `long-answer.ts`. */
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Connections on which a stream is sent to a client of HTTP/1.0, which has no chunks: a body ends when the connection closes. */
const withoutChunks = new WeakSet<Socket>()

/** Call this before a stream is sent as an answer. */
export function noteStream({ raw }: FastifyRequest): void {
  if (raw.httpVersion === '1.0') withoutChunks.add(raw.socket)
}

/**
 * Ends a connection in the middle of an answer, so that the client notices. For HTTP/1.0 that takes a reset, because an
 * orderly end would be the end of the body.
 */
export function breakOff(socket: Socket | null): void {
  if (socket && withoutChunks.has(socket)) socket.resetAndDestroy()
  else socket?.destroy()
}

/**
 * The body of an answer to HEAD whose length is unknown. Fastify announces a length for every other body, and 0 for none.
 */
export const unknownBody = (): Readable => Readable.from([])

/**
 * Closes the body of an answer to HEAD. Fastify itself would read it to its end after the answer, so a file would be
 * read from the database outside of all limits. A body that fails breaks off its connection.
 */
export function watchStreams(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isHead = request.method === 'HEAD'
    if (isHead && reply.statusCode === 304) return done(null, unknownBody())
    if (!(payload instanceof Readable)) return done(null, payload)
    if (!isHead) {
      noteStream(request)
      // Before the first byte, Fastify answers with the error instead.
      payload.once('error', () => {
        if (reply.raw.headersSent) breakOff(request.raw.socket)
      })
      return done(null, payload)
    }
    payload.destroy()
    done(null, unknownBody())
  })
}
