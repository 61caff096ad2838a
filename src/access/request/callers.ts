/**
 * Checks who may call an operation (contract/access.md, "Roles"), before anything else of a request is read. Which role
 * has which right: `roles.ts`.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BankCaller, type Caller, isManager, type MerchantCaller } from '../../caller.ts'
import { DomainError } from '../../errors.ts'
import { hasRight, needsRole, type Right, rolesWith } from '../../roles.ts'
import { requireFreshFactor } from '../factors/fresh.ts'
import { type AuthenticateDeps, authenticate, bankOf, isRead, merchantOf, personOf } from './authenticate.ts'

/** Lets only banks whose role has the right to campaigns call the routes of this plugin. */
export function onlyBanksOfCampaigns(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => withCampaigns(request, bankOf(request)))))
}

/** Lets only merchants whose role has the right to campaigns call the routes of this plugin. */
export function onlyMerchantsOfCampaigns(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => withCampaigns(request, merchantOf(request)))))
}

/** Lets only banks and merchants whose role has the right to campaigns call the routes of this plugin. */
export function onlyPartnersOfCampaigns(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => partnerOf(request))))
}

/** Lets only people, not systems, call the routes of this plugin, which concern their own data. */
export function onlyPeople(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => personOf(request))))
}

/** Lets only people who manage an account call the routes of this plugin. */
export function onlyManagers(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => managerOf(request))))
}

/**
 * Returns the calling manager.
 * @throws DomainError 'forbidden' when the caller is not a person who manages an account
 */
export function managerOf(request: FastifyRequest): ReturnType<typeof personOf> {
  const person = personOf(request)
  if (isManager(person.caller)) return person
  throw new DomainError('forbidden', 'This operation is for those who manage the account: ADMIN, admin_user or admin')
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** People need a factor that was proven within the last 15 minutes for this operation. */
    needsFreshFactor?: boolean
  }
}

/**
 * Routes with `needsFreshFactor` require a fresh factor. The factor is checked before the body is read. The check asks the
 * database, so it comes after the request was counted for the account's rate limit.
 */
export function askForFreshFactor(app: FastifyInstance, deps: { database: Parameters<typeof requireFreshFactor>[0] }) {
  app.addHook('preParsing', async request => {
    // Systems have no second factors. If a system may call the route, its secret is enough.
    if (request.routeOptions.config.needsFreshFactor && request.caller?.userType === 'portal_user')
      await requireFreshFactor(deps.database, personOf(request).sessionId)
  })
}

/** @throws DomainError 'forbidden' when the caller's role does not give the right */
export function requireRight(caller: Caller, right: Right): void {
  if (!hasRight(caller, right)) throw new DomainError('forbidden', needsRole(rolesWith(caller.type, right)))
}

/**
 * Returns the caller of an operation on campaigns.
 * @throws DomainError 'forbidden' when the role lacks the right to read campaigns or, for a change, to change them
 */
function withCampaigns<T extends Caller>(request: FastifyRequest, caller: T): T {
  requireRight(caller, isRead(request) ? 'readCampaigns' : 'changeCampaigns')
  return caller
}

/**
 * Returns the partner that calls an operation on campaigns.
 * @throws DomainError 'forbidden' when the caller is not a bank or a merchant, or the role does not allow the request
 */
export function partnerOf(request: FastifyRequest): BankCaller | MerchantCaller {
  const { caller } = request
  if (caller?.type !== 'bank' && caller?.type !== 'retailer')
    throw new DomainError('forbidden', 'This operation is for banks and merchants')
  return withCampaigns(request, caller)
}

function refusal(check: () => unknown): Error | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error as Error
  }
}
