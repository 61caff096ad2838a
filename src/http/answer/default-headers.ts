/**
 * Headers of every answer (contract/security.md, "Transport, headers and files"). A route whose answers may be cached overrides
 * them.
 */
import type { FastifyInstance } from 'fastify'

const usual = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
const yearSeconds = 31_536_000

/**
 * Returns the default headers. @param publicUrl the platform's address; with https, a header forbids browsers to use
 * http
 */
export function defaultHeaders(publicUrl: string): Record<string, string> {
  const isSecure = new URL(publicUrl).protocol === 'https:'
  return isSecure ? { ...usual, 'strict-transport-security': `max-age=${yearSeconds}` } : usual
}

/** Adds the default headers to every answer of the app. */
export function sendDefaultHeaders(app: FastifyInstance, publicUrl: string): void {
  const headers = defaultHeaders(publicUrl)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
