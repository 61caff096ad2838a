/** Checks who may call an operation (contract/access.md, "Roles"), before anything else of a request is read. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BankCaller, isManager, type MerchantCaller, mayChange } from '../../caller.ts'
import { DomainError } from '../../errors.ts'
import { requireFreshFactor } from '../factors/fresh.ts'
import { type AuthenticateDeps, authenticate, bankOf, isRead, merchantOf, personOf } from './authenticate.ts'

/** Lets only banks with the role ADMIN or EDITOR call the routes of this plugin. */
export function onlyBanks(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => editingBankOf(request))))
}

/** Lets only merchants call the routes of this plugin. The role `viewer` may only read. */
export function onlyMerchants(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) =>
    done(refusal(() => (isRead(request) ? merchantOf(request) : editingMerchantOf(request)))),
  )
}

/**
 * Lets only banks and merchants call the routes of this plugin. Banks need the role ADMIN or EDITOR. Merchants with the
 * role `viewer` may only read.
 */
export function onlyPartners(app: FastifyInstance, deps: AuthenticateDeps): void {
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

/**
 * Returns the calling bank.
 * @throws DomainError 'forbidden' when the caller is not a bank with the role ADMIN or EDITOR
 */
function editingBankOf(request: FastifyRequest): BankCaller {
  const bank = bankOf(request)
  if (!mayChange(bank)) throw new DomainError('forbidden', 'This operation needs the role ADMIN or EDITOR')
  return bank
}

/**
 * Returns the calling merchant.
 * @throws DomainError 'forbidden' when the caller is not a merchant, or has the role `viewer`
 */
function editingMerchantOf(request: FastifyRequest): MerchantCaller {
  const merchant = merchantOf(request)
  if (!mayChange(merchant)) throw new DomainError('forbidden', 'This operation needs the role admin_user or editor')
  return merchant
}

/**
 * Returns the calling partner.
 * @throws DomainError 'forbidden' when the caller is not a bank or a merchant, or the role does not allow the request
 */
export function partnerOf(request: FastifyRequest): BankCaller | MerchantCaller {
  if (request.caller?.type === 'bank') return editingBankOf(request)
  if (request.caller?.type !== 'retailer')
    throw new DomainError('forbidden', 'This operation is for banks and merchants')
  return isRead(request) ? merchantOf(request) : editingMerchantOf(request)
}

function refusal(check: () => unknown): Error | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error as Error
  }
}
