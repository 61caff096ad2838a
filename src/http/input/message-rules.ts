/** What HTTP itself asks of a request before anybody looks at its meaning (RFC 9110, RFC 9112). */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../errors.ts'
import { hasBody } from './optional-body.ts'

/** A name, an IPv4 or an IPv6 address, each with or without a port. */
const hostForm = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** A request that is well-formed, but not of a version or coding that the platform speaks. */
export class UnsupportedError extends Error {
  readonly statusCode: 501 | 505
  constructor(statusCode: 501 | 505, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** @returns why a request cannot be taken as HTTP/1.1 has it */
export function messageError({ raw }: Pick<FastifyRequest, 'raw'>): Error | undefined {
  const { httpVersion, headers } = raw
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new UnsupportedError(505, 'The request must be HTTP/1.1 or HTTP/1.0')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    return new UnsupportedError(501, 'Transfer-Encoding must be chunked, without another coding')
  const { hosts, authorizations } = countFields(raw)
  if (hosts > 1) return new DomainError('invalid', 'The header Host must be given once only')
  // A proxy and the platform could read different ones.
  if (authorizations > 1) return new DomainError('invalid', 'The header Authorization must be given once only')
  if (headers.host === undefined)
    return httpVersion === '1.1' ? new DomainError('invalid', 'The header Host must be given') : undefined
  return hostForm.test(headers.host)
    ? undefined
    : new DomainError('invalid', 'The header Host must be a host name or address')
}

/** Node.js keeps only the first field of these names. */
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
 * Takes over `Expect`: `100 Continue` is sent once caller, rate, type and announced length of the body are fine, so that nobody
 * sends a body in vain. An unknown expectation is passed over.
 *
 * @param usualLimit bytes of a body where the route does not say
 */
export function answerExpectations(app: FastifyInstance, usualLimit: number): void {
  app.server.on('checkContinue', (request, response) => {
    waiting.set(request, response)
    app.server.emit('request', request, response)
  })
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // The last of the hooks that come before the body is read.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const response = waiting.get(request.raw)
    if (response && isTaken(request, usualLimit)) response.writeContinue()
    done()
  })
}

function isTaken({ server, headers, routeOptions }: FastifyRequest, usualLimit: number): boolean {
  if (!hasBody(headers) || !server.hasContentTypeParser(headers['content-type']?.split(';', 1)[0] ?? '')) return false
  const { config, bodyLimit = usualLimit } = routeOptions
  return Boolean(config.longUpload) || Number(headers['content-length'] ?? 0) <= bodyLimit
}
