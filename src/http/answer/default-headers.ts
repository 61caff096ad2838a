/**
 * Headers of every answer (contract/security.md, "Transport, headers and files"). A route whose answers may be cached overrides
 * them.
 */
import type { FastifyInstance } from 'fastify'

const defaults = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
const yearSeconds = 31_536_000

/**
 * Returns the default headers. If the platform's address begins with https, one of these headers forbids browsers to
 * use http.
 */
export function defaultHeaders(publicUrl: string): Record<string, string> {
  const isSecure = new URL(publicUrl).protocol === 'https:'
  return isSecure ? { ...defaults, 'strict-transport-security': `max-age=${yearSeconds}` } : defaults
}

/** Adds the default headers to every answer of the app. */
export function sendDefaultHeaders(app: FastifyInstance, publicUrl: string): void {
  const headers = defaultHeaders(publicUrl)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
