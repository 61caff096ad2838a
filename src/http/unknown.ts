/** Requests that no route takes: 404 for an unknown path, 405 with `Allow` for a known path with another method. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { pathOf, sendError } from './errors.ts'

/** A path such as `/retailers/`, where the router takes the empty rest for an id. */
const lacksParameter = (params: object): boolean =>
  Object.entries(params ?? {}).some(([name, value]) => value === '' && name !== '*')

/** To be called before any route is registered, of each of which it takes note, and after what holds for every answer. */
export function answerUnknown(app: FastifyInstance, maxParamLength: number): void {
  const methods = new Set<HTTPMethods>()
  const routes = findMyWay({ ignoreTrailingSlash: false, maxParamLength })
  /** The methods of each path without a parameter: what they lack is not for a route with a parameter at the same place. */
  const literal = new Map<string, Set<HTTPMethods>>()
  /** Routes with a parameter that would take such a path. */
  const overlapping = new Set<string>()

  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat() as HTTPMethods[]) {
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
  const allowedAt = (path: string): HTTPMethods[] => {
    const own = literal.get(path)
    return [...(own ?? methods)].filter(method => own || takes(method, path)).sort()
  }
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    const allowed = allowedAt(pathOf(request))
    // A route that takes the method and still finds nothing serves files.
    if (allowed.length === 0 || allowed.includes(request.method as HTTPMethods))
      return sendError(request, reply, { statusCode: 404, details: 'There is nothing at this path' })
    reply.header('allow', allowed.join(', '))
    const details = `${request.method} is not possible here, only ${allowed.join(', ')}`
    return sendError(request, reply, { statusCode: 405, details })
  }
  app.setNotFoundHandler(answer)
  // At once, as the body of a request that nobody takes is of no interest.
  app.addHook('onRequest', (request, reply, done) => {
    const { url = '' } = request.routeOptions
    if (
      request.is404 ||
      lacksParameter(request.params as object) ||
      (overlapping.has(url) && literal.has(pathOf(request)))
    )
      answer(request, reply)
    else done()
  })
}
