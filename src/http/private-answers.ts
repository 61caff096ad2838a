/** Answers for one person's eyes: no browser keeps them where the next person at the same computer could find them. */
import type { FastifyInstance } from 'fastify'

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** For every route of this plugin that does not say otherwise itself. */
export function keepPrivate(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
