/** `GET /`: links to everything that this address offers. */
import type { FastifyInstance } from 'fastify'
import type { Service } from '../config.ts'

/** @param runs says which services this address runs */
export function registerRoot(app: FastifyInstance, runs: (service: Service) => boolean): void {
  const documentation = {
    ...((runs('auth') || runs('cashback') || runs('portal')) && { campaigns: '/swagger' }),
    ...(runs('esim') && { esim: '/esim/v1/swagger' }),
    ...(runs('partner') && { partner: '/partner/v1/swagger' }),
    ...(runs('admin') && { operator: '/admin/swagger' }),
  }
  const places = {
    name: 'Perkline',
    ...(runs('portal') && { portal: '/app/' }),
    documentation,
    health: '/health/ready',
  }
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    reply.headers({ vary: 'accept', 'cache-control': 'no-cache' })
    const isBrowser = request.headers.accept?.includes('text/html') ?? false
    return isBrowser && runs('portal') ? reply.redirect('/app/', 302) : places
  })
}
