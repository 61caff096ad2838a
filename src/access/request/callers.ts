/** Who may call what (contract/access.md, "Roles"): looked at before anything else of a request is read. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../errors.ts'
import { type BankCaller, isManager, type MerchantCaller } from '../caller.ts'
import { requireFreshFactor } from '../factors/fresh.ts'
import { type AuthenticateDeps, authenticate, bankOf, isRead, merchantOf, personOf } from './authenticate.ts'

/** Every route of this plugin is for banks, with the role ADMIN or EDITOR. */
export function onlyBanks(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => editingBankOf(request))))
}

/** Every route of this plugin is for merchants; whoever changes something must not be a `viewer`. */
export function onlyMerchants(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) =>
    done(refusal(() => (isRead(request) ? merchantOf(request) : editingMerchantOf(request)))),
  )
}

/** Every route of this plugin is for banks and merchants alike, each as above. */
export function onlyPartners(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => partnerOf(request))))
}

/** Every route of this plugin is for people, each for themselves. */
export function onlyPeople(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => personOf(request))))
}

/** Every route of this plugin is for the people who manage an account. */
export function onlyManagers(app: FastifyInstance, deps: AuthenticateDeps): void {
  authenticate(app, deps)
  app.addHook('onRequest', (request, _, done) => done(refusal(() => managerOf(request))))
}

/** @throws DomainError 'forbidden' unless a person calls who manages an account */
export function managerOf(request: FastifyRequest): ReturnType<typeof personOf> {
  const person = personOf(request)
  if (isManager(person.caller)) return person
  throw new DomainError('forbidden', 'This operation is for those who manage the account: ADMIN, admin_user or admin')
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For people the operation needs a factor that was proven within the last 15 minutes. */
    needsFreshFactor?: boolean
  }
}

/** Routes of this plugin with `needsFreshFactor` ask for that once it is known who calls, and before anything is read. */
export function askForFreshFactor(app: FastifyInstance, deps: { database: Parameters<typeof requireFreshFactor>[0] }) {
  app.addHook('onRequest', async request => {
    // Systems have no factors; where they may call at all, their secret is enough.
    if (request.routeOptions.config.needsFreshFactor && request.caller?.userType === 'portal_user')
      await requireFreshFactor(deps.database, personOf(request).sessionId)
  })
}

/** @throws DomainError 'forbidden' unless a bank calls that may take part in campaigns */
function editingBankOf(request: FastifyRequest): BankCaller {
  const bank = bankOf(request)
  if (bank.role === 'VIEWER') throw new DomainError('forbidden', 'This operation needs the role ADMIN or EDITOR')
  return bank
}

/** @throws DomainError 'forbidden' unless a merchant calls that may change something */
function editingMerchantOf(request: FastifyRequest): MerchantCaller {
  const merchant = merchantOf(request)
  if (merchant.role === 'viewer')
    throw new DomainError('forbidden', 'This operation needs the role admin_user or editor')
  return merchant
}

/** @throws DomainError 'forbidden' unless a bank or a merchant calls that may do what the request asks for */
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
