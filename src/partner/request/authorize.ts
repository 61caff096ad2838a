/**
 * Who may call the Partner API: systems and people with a token, people also with the portal's cookie
 * (contract/partner-api.md, "Who calls").
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type AuthenticateDeps, authenticate } from '../../access/request/authenticate.ts'
import { type Account, accountOf, type Caller } from '../../caller.ts'
import { DomainError } from '../../errors.ts'
import { type Roles, refusalOf } from '../allowed-roles.ts'

/** The keyword of an operation's schema that lists its roles. The OpenAPI document shows it. */
export const rolesKeyword = 'x-roles'

/**
 * Every route of this plugin needs a token and one of the roles that the route declares. A route that declares no roles
 * refuses everybody.
 *
 * @throws as `authenticate`; DomainError 'forbidden' when the kind of account or the role is not allowed
 */
export function authorize(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => {
    const refusal = refusalOf(authorizedCaller(request), rolesOf(request))
    done(refusal === null ? undefined : new DomainError('forbidden', refusal))
  })
}

const nobody: Roles = { bank: [], merchant: [], platform: [] }

function rolesOf({ routeOptions }: FastifyRequest): Roles {
  const schema = routeOptions.schema as { [rolesKeyword]?: Roles } | undefined
  return schema?.[rolesKeyword] ?? nobody
}

/** The caller of a request of the Partner API. */
function authorizedCaller({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error('The route is not behind authorize()')
  return caller
}

/** The account whose objects a request concerns. */
export const callerAccount = (request: FastifyRequest): Account => accountOf(authorizedCaller(request))
