/** Handles absent bodies, and the operations that allow them. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { firstPart } from './first-part.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may be absent; the operation then gets an empty object. */
    bodyOptional?: boolean
  }
}

/** Whether the headers announce a body. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The `config` of a route whose body may be absent. */
export const bodyOptional = { bodyOptional: true }

/**
 * Gives a route with `bodyOptional` an empty object for an absent body, but not for `null`. The content type of an
 * absent body is ignored, because clients without a body often send one (`curl -d ''` sends a form's).
 */
export function takeAbsentBodies(app: FastifyInstance): void {
  app.addHook('onRequest', ({ headers, routeOptions }, _reply, done) => {
    if (routeOptions.config.bodyOptional && !hasBody(headers)) delete headers['content-type']
    done()
  })
  // Node.js emits no end for a body that is not announced (`optimizeEmptyRequests`), so a parser would wait for it forever.
  app.addHook('preParsing', ({ headers, method }, _reply, payload, done) => {
    const isAwaited = headers['content-type'] !== undefined && method !== 'GET' && method !== 'HEAD'
    done(null, isAwaited && !hasBody(headers) ? Readable.from([]) : payload)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.bodyOptional && request.body === undefined) request.body = {}
    done()
  })
}

/**
 * Treats an empty chunked body as absent, too. Clients send one when they did not know in advance that the body would
 * be empty, often without a content type. Call this after all hooks that check the caller, because its hook waits for
 * the first byte.
 */
export function takeEmptyBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ headers, routeOptions, raw }, _reply, payload) => {
    const mayBeEmpty = headers['transfer-encoding'] !== undefined && !app.hasContentTypeParser(typeOf(headers))
    // A client that waits for `100 Continue` sends no byte before it.
    if (!routeOptions.config.bodyOptional || !mayBeEmpty || headers.expect !== undefined) return payload
    await firstPart(raw, 1)
    if (raw.readableLength > 0) return payload
    delete headers['transfer-encoding']
    delete headers['content-type']
    return Readable.from([])
  })
}

/** The media type that the headers announce, without parameters. */
export const typeOf = (headers: IncomingHttpHeaders): string => headers['content-type']?.split(';', 1)[0] ?? ''
