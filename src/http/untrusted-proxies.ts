/**
 * Warns the operator about proxies that are missing in the settings. All clients behind a missing proxy seem to have
 * one address.
 */
import type { FastifyInstance } from 'fastify'
import type { Logger } from '../log.ts'

/** Any client can send `X-Forwarded-For`, so the number of senders that we log and remember is limited. */
const maxSenders = 20

/** Logs each untrusted sender of `X-Forwarded-For` once per address and process. */
export function warnOfUntrustedProxies(app: FastifyInstance, logger: Logger): void {
  const reported = new Set<string>()
  app.addHook('onRequest', (request, _reply, done) => {
    const sender = request.raw.socket.remoteAddress
    // `ips` begins with the sender's address. Fastify adds forwarded addresses only if it trusts the sender.
    const isUntrusted = (request.ips?.length ?? 1) === 1
    if (
      request.headers['x-forwarded-for'] &&
      isUntrusted &&
      sender &&
      !reported.has(sender) &&
      reported.size < maxSenders
    ) {
      reported.add(sender)
      logger.warn(
        { sender },
        'an X-Forwarded-For is ignored, as TRUSTED_PROXIES does not name its sender: all callers behind it share the limits of one',
      )
    }
    done()
  })
}
