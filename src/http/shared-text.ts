/** The text of answers that many callers get alike: it is written once, and kept for as long as the object that it tells of. */
import type { FastifyReply } from 'fastify'

/**
 * @param viewOf what callers see of a source, which never changes
 * @returns a function that answers with the source as JSON, by the schema of the route
 */
export function createSharedText<Source extends object>(viewOf: (source: Source) => unknown) {
  const texts = new WeakMap<Source, Buffer>()
  return (reply: FastifyReply, source: Source): FastifyReply => {
    const text = texts.get(source) ?? Buffer.from(reply.serialize(viewOf(source)) as string)
    texts.set(source, text)
    return reply.type('application/json; charset=utf-8').send(text)
  }
}
