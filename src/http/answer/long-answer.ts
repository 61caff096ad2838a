/**
 * Sends long answers piece by piece. `sendLong` sends an answer while it is produced, so the whole answer is never in
 * memory. `sendPieces` sends pieces that exist already. A client that reads too slowly is disconnected.
 */
import type { ServerResponse } from 'node:http'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseEncoding, createEncoder, type Encoding } from './content-encoding.ts'
import { beginStream, breakOff } from './streams.ts'

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
  beginStream(request, reply)
  const { raw } = reply
  const { socket } = request.raw
  // If the server was closed while the answer was sent, end the connection. Otherwise the stop would wait for the client to end it.
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
  pipeline(encoder, raw).catch(() => breakOff(raw.socket))
  return encoder
}

/** An answer below this size is sent as a whole. */
const wholeBytes = 64 * 1024
/** How long a client may take to read all pieces. */
const readMs = 90_000

/**
 * Sends a JSON text as the list of texts that it was made from. Joining, encoding and freeing one text of some
 * megabytes would block all other requests for about ten milliseconds.
 */
export function sendPieces(request: FastifyRequest, reply: FastifyReply, texts: readonly string[]): FastifyReply {
  reply.type('application/json; charset=utf-8')
  const pieces = texts.map(text => Buffer.from(text))
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length < wholeBytes) return reply.send(texts.join(''))
  const encoding = chooseEncoding(request.headers['accept-encoding'] as string | undefined)
  reply.header('vary', 'accept-encoding')
  if (encoding === 'identity') reply.header('content-length', length)
  else reply.header('content-encoding', encoding)
  const writeTo = (taker: Writable) =>
    pipeline(Readable.from(pieces), taker, { end: false, signal: AbortSignal.timeout(readMs) })
  sendLong(request, reply, { encoding, writeTo })
  return reply
}
