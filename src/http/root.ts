/** `GET /`: links to everything that this address offers. */
import type { FastifyInstance } from 'fastify'

/** @param places the links that are sent as the answer. If `portal` is given, browsers are redirected to it instead */
export function registerRoot(app: FastifyInstance, places: { portal?: string }): void {
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    reply.headers({ vary: 'accept', 'cache-control': 'no-cache' })
    const isBrowser = request.headers.accept?.includes('text/html') ?? false
    return isBrowser && places.portal !== undefined ? reply.redirect(places.portal, 302) : places
  })
}
