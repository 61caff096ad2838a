/**
 * UUIDs in paths. A caller may write them with capitals; the database writes them in lower case. They are lower-cased
 * once, because our code compares ids, uses them in encryption and writes them into the audit log.
 */
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { isUuid } from '../text/uuid.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The names of the path parameters that are UUIDs. */
    idParameters?: readonly string[]
  }
}

/**
 * Writes the UUIDs in the path of every request in lower case. The schema of the route says which parameters are UUIDs.
 */
export function lowerPathIds(app: FastifyInstance): void {
  // Only routes with such parameters get the hook, so that the busiest requests do not pay for it.
  app.addHook('onRoute', route => {
    const idParameters = idsOf(route.schema?.params)
    if (idParameters.length === 0) return
    route.config = { ...route.config, idParameters }
    const lower: onRequestHookHandler = ({ params }, _reply, done) => {
      const texts = params as Record<string, string>
      for (const name of idParameters) {
        const text = texts[name] ?? ''
        if (isUuid(text)) texts[name] = text.toLowerCase()
      }
      done()
    }
    route.onRequest = [lower, ...[route.onRequest ?? []].flat()]
  })
}

function idsOf(schema: unknown): string[] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { format?: string }> }
  return Object.keys(properties).filter(name => properties[name]?.format === 'uuid')
}

/**
 * The requested address, with the UUIDs in its path in lower case. Two requests for the same object have the same
 * address.
 */
export function addressOf({ raw, routeOptions, params }: FastifyRequest): string {
  const { url = '' } = raw
  const ids = (routeOptions.config.idParameters ?? []).map(name => (params as Record<string, string>)[name] ?? '')
  const end = url.indexOf('?') === -1 ? url.length : url.indexOf('?')
  const lower = url
    .slice(0, end)
    .split('/')
    .map(part => (ids.includes(part.toLowerCase()) ? part.toLowerCase() : part))
  return lower.join('/') + url.slice(end)
}
