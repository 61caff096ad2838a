/** Bodies that are absent, and the operations that take that. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may be absent; it is an empty object then. */
    bodyOptional?: boolean
  }
}

/** Whether a request says that a body follows. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The `config` of a route whose body may be absent. */
export const bodyOptional = { bodyOptional: true }

/**
 * An absent body of such a route is an empty one; `null` is none. It is of no type: clients that have nothing to send announce one
 * all the same (`curl -d ''` a form's).
 */
export function takeAbsentBodies(app: FastifyInstance): void {
  app.addHook('onRequest', ({ headers, routeOptions }, _reply, done) => {
    if (routeOptions.config.bodyOptional && !hasBody(headers)) delete headers['content-type']
    done()
  })
  // Of a body that is not announced Node.js tells no end (`optimizeEmptyRequests`), and a parser for its type would wait for it.
  app.addHook('preParsing', ({ headers, method }, _reply, payload, done) => {
    const isAwaited = headers['content-type'] !== undefined && method !== 'GET' && method !== 'HEAD'
    done(null, isAwaited && !hasBody(headers) ? Readable.from([]) : payload)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.bodyOptional && request.body === undefined) request.body = {}
    done()
  })
}
