/** Answers of many lines, each a JSON value (`application/x-ndjson`), sent as they are produced. */
import { PassThrough, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { DomainError } from '../../errors.ts'

const type = 'application/x-ndjson; charset=utf-8'
const textOf = (line: object): string => `${JSON.stringify(line)}\n`

/** Sends existing lines, no faster than the client reads them. */
export function sendLines(reply: FastifyReply, lines: Iterable<object>): FastifyReply {
  const texts = function* () {
    for (const line of lines) yield textOf(line)
  }
  return reply.type(type).send(Readable.from(texts()))
}

/**
 * Sends what `work` reports while it runs. An error before the first line becomes an ordinary error answer. After a
 * later error, the last line is `{"error": "..."}`. The work continues to its end even if the client disconnects.
 */
export async function sendProgress(
  reply: FastifyReply,
  work: (send: (line: object) => void) => Promise<void>,
): Promise<FastifyReply> {
  const lines = new PassThrough()
  const started = Promise.withResolvers<void>()
  const send = (line: object) => {
    if (!lines.destroyed) lines.write(textOf(line))
    started.resolve()
  }
  const done = work(send)
  await Promise.race([started.promise, done])
  done.then(
    () => lines.end(),
    (error: unknown) => {
      if (!(error instanceof DomainError)) reply.log.error({ err: error }, 'unexpected error')
      send({ error: error instanceof DomainError ? error.message : 'It broke off; start it again' })
      lines.end()
    },
  )
  return reply.type(type).send(lines)
}
