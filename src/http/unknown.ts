/** Requests that no route takes: 404 for an unknown path, 405 with `Allow` for a known path with another method. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { errorBody, pathOf } from './errors.ts'

/** To be called before any route is registered: it takes note of each of them. */
export function answerUnknown(app: FastifyInstance): void {
  const methods = new Set<HTTPMethods>()
  const routes = findMyWay({ ignoreTrailingSlash: false })
  const known = (method: HTTPMethods, path: string) => routes.find(method as HTTPMethod, path) !== null

  app.addHook('onRoute', route => {
    for (const method of [route.method].flat() as HTTPMethods[]) {
      methods.add(method)
      if (!routes.hasRoute(method as HTTPMethod, route.url)) routes.on(method as HTTPMethod, route.url, () => {})
    }
  })

  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request)
    const allowed = [...methods].filter(method => known(method, path))
    if (allowed.length === 0) return reply.code(404).send(errorBody(request, 404, 'There is nothing at this path'))
    return reply
      .code(405)
      .header('allow', allowed.sort().join(', '))
      .send(errorBody(request, 405, `${request.method} is not possible here, only ${allowed.join(', ')}`))
  })
}
