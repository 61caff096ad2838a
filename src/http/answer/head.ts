/** Answers to HEAD. Their bodies are neither sent nor read. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/**
 * Closes the body of an answer to HEAD when it is a stream. Fastify itself would read it to its end after the answer,
 * so a file would be read from the database outside of all limits.
 */
export function closeBodiesOfHead(app: FastifyInstance): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (request.method !== 'HEAD' || !(payload instanceof Readable)) return done(null, payload)
    payload.destroy()
    done(null, Readable.from([]))
  })
}
