/** Who may call what (contract/access.md, "Roles"): looked at before anything else of a request is read. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../errors.ts'
import type { BankCaller, MerchantCaller } from '../caller.ts'
import { type AuthenticateDeps, authenticate, bankOf, isRead, merchantOf } from './authenticate.ts'

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
