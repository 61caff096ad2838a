/** The text of answers that many callers get alike: it is written once, and kept for as long as the object that it tells of. */
import type { FastifyReply } from 'fastify'

/**
 * @param viewOf what callers see of a source, which never changes; what it takes besides is always the same for that source
 * @returns a function that answers with the source as JSON, by the schema of the route
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

/** `Buffer.from` would take them out of a chunk of 64 KiB that others share: a few bytes that are kept would keep all of it. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
