/**
 * Sends answers while they are produced. The whole answer is never in memory, and a client that reads too slowly is
 * disconnected.
 */
import type { ServerResponse } from 'node:http'
import { pipeline, type Writable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createEncoder, type Encoding } from './content-encoding.ts'
import { breakOff, noteStream } from './streams.ts'

/**
 * Sends an answer of any length, with status 200 and the headers of the reply. If it cannot be finished, the connection
 * is broken off before the end of the body, so that clients know that the answer is incomplete.
 *
 * @param body.writeTo writes everything, as fast as the client reads; not called for HEAD
 */
export function sendLong(
  request: FastifyRequest,
  reply: FastifyReply,
  body: { encoding: Encoding; writeTo(taker: Writable): Promise<void> },
): void {
  reply.hijack()
  noteStream(request)
  const { raw } = reply
  const { socket } = request.raw
  // The answer began before the server was closed. Otherwise the stop would wait until the client closes the connection.
  raw.once('finish', () => {
    if (!request.server.server.listening) socket.end()
  })
  raw.writeHead(200, reply.getHeaders() as Record<string, string>)
  if (request.method === 'HEAD') return void raw.end()
  const taker = body.encoding === 'identity' ? raw : pipedTo(raw, createEncoder(body.encoding))
  body.writeTo(taker).then(
    () => void taker.end(),
    (error: Error) => {
      request.log.info({ reason: error.message }, 'a long answer was not finished')
      breakOff(raw.socket)
    },
  )
}

function pipedTo(raw: ServerResponse, encoder: ReturnType<typeof createEncoder>): Writable {
  pipeline(encoder, raw, error => {
    if (error) breakOff(raw.socket)
  })
  return encoder
}
