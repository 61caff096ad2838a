/** Requests that no route takes: 404 for an unknown path, 405 with `Allow` for a known path with another method. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { errorBody, pathOf } from './errors.ts'

/** To be called before any route is registered, of each of which it takes note, and after what holds for every answer. */
export function answerUnknown(app: FastifyInstance, maxParamLength: number): void {
  const methods = new Set<HTTPMethods>()
  const routes = findMyWay({ ignoreTrailingSlash: false, maxParamLength })
  const known = (method: HTTPMethods, path: string) => routes.find(method as HTTPMethod, path) !== null

  app.addHook('onRoute', route => {
    for (const method of [route.method].flat() as HTTPMethods[]) {
      methods.add(method)
      if (!routes.hasRoute(method as HTTPMethod, route.url)) routes.on(method as HTTPMethod, route.url, () => {})
    }
  })

  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request)
    const allowed = [...methods].filter(method => known(method, path)).sort()
    // A route that takes the method and still finds nothing serves files.
    if (allowed.length === 0 || allowed.includes(request.method as HTTPMethods))
      return reply.code(404).send(errorBody(request, 404, 'There is nothing at this path'))
    return reply
      .code(405)
      .header('allow', allowed.join(', '))
      .send(errorBody(request, 405, `${request.method} is not possible here, only ${allowed.join(', ')}`))
  }
  app.setNotFoundHandler(answer)
  // At once, as the body of a request that nobody takes is of no interest.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answer(request, reply)
    else done()
  })
}
