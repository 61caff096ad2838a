/** Answers that are written while they are read: nothing of them is kept, and who takes them too slowly does not get their end. */
import { pipeline, type Writable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createEncoder, type Encoding } from './content-encoding.ts'

/**
 * Sends an answer of any length, with status 200 and the headers that the reply has. When it can't be finished the connection breaks
 * and the chunked body stays without its end, so that nobody takes a part for the whole.
 *
 * @param body.writeTo writes it all, at the pace of the one who takes it
 */
export function sendLong(
  request: FastifyRequest,
  reply: FastifyReply,
  body: { encoding: Encoding; writeTo(taker: Writable): Promise<void> },
): void {
  reply.hijack()
  const { raw } = reply
  // A connection that has carried this much is not kept: so nobody waits for it when the platform stops.
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), connection: 'close' })
  const taker = body.encoding === 'identity' ? raw : pipedTo(raw, createEncoder(body.encoding))
  body.writeTo(taker).then(
    () => void taker.end(),
    (error: Error) => {
      request.log.info({ reason: error.message }, 'a long answer was not finished')
      raw.destroy()
    },
  )
}

function pipedTo(raw: Writable, encoder: ReturnType<typeof createEncoder>): Writable {
  pipeline(encoder, raw, error => {
    if (error) raw.destroy()
  })
  return encoder
}
