/** Tells the operator of a proxy that the settings do not name: behind it all callers look like one address. */
import type { FastifyInstance } from 'fastify'
import type { Logger } from '../log.ts'

/** Any caller can send the header: what strangers make us log and keep is bounded. */
const mostSenders = 20

/** Logs each sender of an `X-Forwarded-For` that is not trusted, once for each address and process. */
export function warnOfUntrustedProxies(app: FastifyInstance, logger: Logger): void {
  const told = new Set<string>()
  app.addHook('onRequest', (request, _reply, done) => {
    const sender = request.raw.socket.remoteAddress
    // Fastify lists what a trusted sender has forwarded behind the sender itself.
    const isUntrusted = (request.ips?.length ?? 1) === 1
    if (request.headers['x-forwarded-for'] && isUntrusted && sender && !told.has(sender) && told.size < mostSenders) {
      told.add(sender)
      logger.warn(
        { sender },
        'an X-Forwarded-For is ignored, as TRUSTED_PROXIES does not name its sender: all callers behind it share the limits of one',
      )
    }
    done()
  })
}
