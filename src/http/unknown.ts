/** Answers requests without a route: 404 for an unknown path, 405 with `Allow` for a known path with another method. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { pathOf, sendError } from './errors.ts'

/** Whether a parameter of the path is empty, as in `/retailers/`, where the router accepts the empty text as an id. */
const lacksParameter = (params: object): boolean =>
  Object.entries(params ?? {}).some(([name, value]) => value === '' && name !== '*')

/** Whether the target of a request is no path, such as `*`. The router would answer it as `/`. */
const isNoPath = (target: string): boolean => target !== '' && !target.startsWith('/')

/**
 * A proxy may block paths with these beginnings for partners. Our router decodes a path, but many proxies do not. So an
 * encoded path (`/%61dmin`) would pass through the proxy, and we refuse it.
 */
const keptByProxies = /^\/(?:admin|sandbox|health)(?:\/|$)/
const isDisguised = (request: FastifyRequest, route: string): boolean =>
  keptByProxies.test(route) && !keptByProxies.test(pathOf(request))

/**
 * Call this before the routes are registered, because it records all of them. Call it after the hooks that change every
 * answer are added.
 */
export function answerUnknown(app: FastifyInstance, maxParamLength: number): void {
  const { allowedAt, isShadowed } = recordRoutes(app, maxParamLength)
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    const allowed = isNoPath(pathOf(request)) ? [] : allowedAt(pathOf(request))
    // Answer 404 for an allowed method, too: a route that serves files calls this handler when a file does not exist.
    if (allowed.length === 0 || allowed.includes(request.method as HTTPMethods))
      return sendError(request, reply, { statusCode: 404, details: 'There is nothing at this path' })
    reply.header('allow', allowed.join(', '))
    const details = `${request.method} is not possible here, only ${allowed.join(', ')}`
    return sendError(request, reply, { statusCode: 405, details })
  }
  app.setNotFoundHandler(answer)
  // Answer at once, because the body is not needed.
  app.addHook('onRequest', (request, reply, done) => {
    const { url = '' } = request.routeOptions
    const isUnknown =
      request.is404 ||
      isNoPath(pathOf(request)) ||
      lacksParameter(request.params as object) ||
      isDisguised(request, url) ||
      isShadowed(url, pathOf(request))
    if (isUnknown) answer(request, reply)
    else done()
  })
}

/**
 * Adds GET to HEAD, because each HEAD route belongs to a GET route. For a prefix with a slash at its end, such as
 * `/swagger/`, Fastify calls `onRoute` only for the HEAD route.
 */
const withGet = (method: HTTPMethods): HTTPMethods[] => (method === 'HEAD' ? ['GET', 'HEAD'] : [method])

type KnownRoutes = {
  /** The methods that a path has, sorted. */
  allowedAt(path: string): HTTPMethods[]
  /**
   * Whether this path has routes of its own. Then a route with a parameter, such as `/orders/:id`, must not answer it.
   */
  isShadowed(route: string, path: string): boolean
}

function recordRoutes(app: FastifyInstance, maxParamLength: number): KnownRoutes {
  const methods = new Set<HTTPMethods>()
  const routes = findMyWay({ ignoreTrailingSlash: false, maxParamLength })
  /** The methods of each path without a parameter. */
  const literal = new Map<string, Set<HTTPMethods>>()
  /** Routes with a parameter that also match a path of `literal`. */
  const overlapping = new Set<string>()

  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat().flatMap(withGet)) {
      methods.add(each)
      if (!routes.hasRoute(each as HTTPMethod, url)) routes.on(each as HTTPMethod, url, () => {}, { url })
      if (!/[:*]/.test(url)) literal.set(url, (literal.get(url) ?? new Set()).add(each))
    }
  })
  app.addHook('onReady', done => {
    for (const [path, own] of literal)
      for (const method of methods) {
        const other = own.has(method) ? null : routes.find(method as HTTPMethod, path)
        if (other) overlapping.add(other.store.url)
      }
    done()
  })

  const takes = (method: HTTPMethods, path: string): boolean => {
    const route = routes.find(method as HTTPMethod, path)
    return route !== null && !lacksParameter(route.params)
  }
  return {
    allowedAt(path) {
      const own = literal.get(path)
      return [...(own ?? methods)].filter(method => own || takes(method, path)).sort()
    },
    isShadowed: (route, path) => overlapping.has(route) && literal.has(path),
  }
}
