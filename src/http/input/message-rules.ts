/** Checks what HTTP itself requires of a request (RFC 9110, RFC 9112), before anything else. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../errors.ts'
import { hasBody, typeOf } from './optional-body.ts'

/** A name, an IPv4 or an IPv6 address, each with or without a port. */
const hostForm = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** A valid request whose HTTP version or transfer coding we do not support. */
export class UnsupportedError extends Error {
  readonly statusCode: 501 | 505
  constructor(statusCode: 501 | 505, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** @returns why the request is not valid HTTP/1.1 */
export function messageError({ raw }: Pick<FastifyRequest, 'raw'>): Error | undefined {
  const { httpVersion, headers } = raw
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new UnsupportedError(505, 'The request must be HTTP/1.1 or HTTP/1.0')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    return new UnsupportedError(501, 'Transfer-Encoding must be chunked, without another coding')
  const { hosts, authorizations } = countFields(raw)
  if (hosts > 1) return new DomainError('invalid', 'The header Host must be given once only')
  // With two Authorization headers, the proxy could check one and the platform the other one.
  if (authorizations > 1) return new DomainError('invalid', 'The header Authorization must be given once only')
  if (headers.host === undefined)
    return httpVersion === '1.1' ? new DomainError('invalid', 'The header Host must be given') : undefined
  return hostForm.test(headers.host)
    ? undefined
    : new DomainError('invalid', 'The header Host must be a host name or address')
}

/** Counts in `rawHeaders`, because in `headers` Node.js keeps only the first field with one of these names. */
function countFields({ rawHeaders }: IncomingMessage): { hosts: number; authorizations: number } {
  let hosts = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  return { hosts, authorizations }
}

/** Requests whose sender waits for `100 Continue` before it sends the body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/**
 * Handles `Expect: 100-continue`. `100 Continue` is sent only after the caller, the rate limit, and the type and
 * announced length of the body were checked, so that no client sends a body for nothing. Unknown expectations are
 * ignored.
 *
 * @param defaultLimit the maximum size of a body in bytes, for a route that sets none
 */
export function answerExpectations(app: FastifyInstance, defaultLimit: number): void {
  app.server.on('checkContinue', (request, response) => {
    waiting.set(request, response)
    app.server.emit('request', request, response)
  })
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // This is the last hook before the body is read.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const response = waiting.get(request.raw)
    if (response && isTaken(request, defaultLimit)) response.writeContinue()
    done()
  })
}

function isTaken({ server, headers, routeOptions }: FastifyRequest, defaultLimit: number): boolean {
  if (!hasBody(headers) || !server.hasContentTypeParser(typeOf(headers))) return false
  const { config, bodyLimit = defaultLimit } = routeOptions
  return Boolean(config.longUpload) || Number(headers['content-length'] ?? 0) <= bodyLimit
}
