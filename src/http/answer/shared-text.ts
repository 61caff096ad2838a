/** Caches the text of answers that are the same for many callers, for as long as their source object lives. */
import type { FastifyReply } from 'fastify'

/**
 * Creates a function that answers with the JSON text of a source object, which must never change.
 *
 * @param viewOf makes the answer from a source and further arguments, which must be the same in all calls for that
 *   source
 */
export function createSharedText<Source extends object, Besides extends unknown[]>(
  viewOf: (source: Source, ...besides: Besides) => unknown,
) {
  const texts = new WeakMap<Source, Buffer>()
  return (reply: FastifyReply, source: Source, ...besides: Besides): FastifyReply => {
    const text = texts.get(source) ?? ownBytes(reply.serialize(viewOf(source, ...besides)) as string)
    texts.set(source, text)
    return reply.type('application/json; charset=utf-8').send(text)
  }
}

/**
 * Copies the text to memory of its own. `Buffer.from` takes small buffers out of a shared chunk of 64 KiB, and a few
 * stored bytes would keep the whole chunk in memory.
 */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
