/** What the platform's operator does, below `/admin` (operations.md, "The command `perkline`"): the commands call these. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'
import { bearerToken } from '../http/authenticate.ts'
import { type AccessAdminDeps, accessAdminRoutes } from './access-routes.ts'
import { type StockAdminDeps, stockAdminRoutes } from './stock-routes.ts'

export type AdminRoutesDeps = AccessAdminDeps & StockAdminDeps & { operatorKey: string }

export const adminRoutes: FastifyPluginAsyncTypebox<AdminRoutesDeps> = async (app, deps) => {
  requireOperatorKey(app as unknown as FastifyInstance, deps.operatorKey)
  app.addHook('onRoute', route => {
    // The operator's interface has one client, the command line, and no page of its own.
    route.schema = { ...route.schema, hide: true }
  })
  await app.register(accessAdminRoutes, { ...deps, prefix: '' })
  await app.register(stockAdminRoutes, { ...deps, prefix: '' })
}

/** What a stranger sends is read for so long, so that the answer gets through. */
const refusedBodyMs = 8_000

/** In constant time, whatever the length of what is sent. */
function requireOperatorKey(app: FastifyInstance, operatorKey: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(operatorKey)
  app.addHook('onRequest', (request: FastifyRequest, _, done) => {
    const given = bearerToken(request)
    if (given !== null && timingSafeEqual(digest(given), expected)) return done()
    const { raw } = request
    const timer = setTimeout(() => raw.socket.destroySoon(), refusedBodyMs)
    for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(timer))
    done(new DomainError('unauthenticated', 'The operator’s key is needed'))
  })
}
