/** Creates campaigns of merchants and banks (contract/campaigns.md, "Create"). */

import { randomUUID } from 'node:crypto'
import type { BankCaller, MerchantCaller } from '../../caller.ts'
import { type BrokenRule, broken, eachOnce } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import type { CampaignDeps } from '../deps.ts'
import { type Actor, actorOf } from '../lifecycle/actor.ts'
import * as lifecycle from '../lifecycle/lifecycle.ts'
import type { LockedCampaign } from '../lifecycle/locking-store.ts'
import { writeDecisions } from '../lifecycle/transitions-store.ts'
import { type DirectoryEntries, findDirectoryEntries, insertCampaign } from './campaign-store.ts'
import { crossErrors, type Fields, maxErrors, readId, readNewFields, termsOf } from './form.ts'
import { newCampaignErrors } from './pending-store.ts'
import { cardText, type Origin } from './terms.ts'

type Deps = Pick<CampaignDeps, 'database' | 'clock' | 'pending'>
/** The body as it was sent, and its schema errors. */
export type Form = { body: unknown; schemaErrors: readonly BrokenRule[] }

/**
 * Creates a campaign of the merchant and invites the banks of the form.
 *
 * @throws DomainError 'invalid' with all errors of the form
 */
export function createAsMerchant(deps: Deps, merchant: MerchantCaller, form: Form): Promise<LockedCampaign> {
  const { fields, errors } = readNewFields(form.body)
  return create(deps, {
    fields,
    formErrors: [...form.schemaErrors, ...errors],
    merchantId: merchant.merchantId,
    invited: fields.participantsIds,
    partnerErrors: found => bankErrors(fields.participantsIds, found),
    createdByBankId: null,
    actor: actorOf(merchant),
  })
}

/**
 * Creates a campaign of the bank for the merchant that the form names in `retailerId`. Only the bank itself is invited.
 *
 * @throws DomainError 'invalid' with all errors of the form, also for a merchant that is unknown, suspended or excludes the bank
 */
export function createAsBank(deps: Deps, bank: BankCaller, form: Form): Promise<LockedCampaign> {
  const { fields, errors } = readNewFields(form.body)
  const merchantId = readId((form.body as { retailerId?: unknown } | null | undefined)?.retailerId)
  const isWelcome = ({ merchantActive, banks }: DirectoryEntries) => merchantActive && banks.length > 0
  return create(deps, {
    fields,
    formErrors: [...form.schemaErrors, ...errors],
    merchantId,
    invited: [bank.bankId],
    partnerErrors: found =>
      merchantId === undefined || isWelcome(found) ? [] : [broken('retailerId', 'open-merchant')],
    createdByBankId: bank.bankId,
    actor: actorOf(bank),
  })
}

type NewCampaign = {
  fields: Partial<Fields>
  formErrors: readonly BrokenRule[]
  /** Undefined when the form has no valid merchant; `formErrors` then says so. */
  merchantId: string | undefined
  invited: readonly string[] | undefined
  partnerErrors(found: DirectoryEntries): BrokenRule[]
  createdByBankId: string | null
  actor: Actor
}

function create({ database, clock, pending }: Deps, params: NewCampaign): Promise<LockedCampaign> {
  const { fields, merchantId, invited, createdByBankId, actor } = params
  return database.transaction(async transaction => {
    const now = clock.now()
    const found = await findDirectoryEntries(transaction, {
      merchantId,
      banks: invited,
      countryCode: fields.countryCode,
      paymentSystems: fields.paymentSystemsId,
    })
    requireNoErrors([
      ...params.formErrors,
      ...crossErrors(fields, now),
      ...params.partnerErrors(found),
      ...directoryErrors(fields, found),
    ])
    const { countryId } = found
    if (merchantId === undefined || invited === undefined || countryId === null)
      throw new Error('The schema has let a form without these pass')
    const terms = termsOf(fields as Fields)
    const campaign = newCampaign({ cashbackId: randomUUID(), merchantId, createdByBankId, createdAt: now }, fields)
    // The limits are for campaigns that the merchant itself created. A campaign that a bank created does not count.
    if (createdByBankId === null && pending) {
      const content = { ...terms, card: cardText(campaign, terms, countryId) }
      requireNoErrors(await newCampaignErrors(transaction, pending, { merchantId, content, clock }))
    }
    await insertCampaign(transaction, campaign, terms, countryId)
    const decision = lifecycle.create(invited)
    const [created] = await writeDecisions(transaction, [{ campaign, decision }], { actor, now })
    return created ?? campaign
  })
}

/** Refuses a form that has errors. @throws DomainError 'invalid' when there are errors */
export function requireNoErrors(errors: readonly BrokenRule[]): void {
  if (errors.length > 0) throw new DomainError('invalid', eachOnce(errors).slice(0, maxErrors))
}

/** The errors for banks that cannot be invited. */
export function bankErrors(invited: readonly string[] | undefined, found: DirectoryEntries): BrokenRule[] {
  return (invited ?? []).flatMap((bankId, index) =>
    found.banks.includes(bankId) ? [] : [broken(`participantsIds.${index}`, 'invitable-bank')],
  )
}

/**
 * The errors for values of the form that are not in the directory. The schema already reports a malformed country code.
 */
export function directoryErrors(fields: Partial<Fields>, found: DirectoryEntries): BrokenRule[] {
  const { countryCode, paymentSystemsId = [] } = fields
  const errors = paymentSystemsId.flatMap((id, index) =>
    found.paymentSystems.includes(id) ? [] : [broken(`paymentSystemsId.${index}`, 'known-payment-system')],
  )
  if (countryCode !== undefined && /^[A-Z]{2}$/.test(countryCode) && found.countryId === null)
    errors.push(broken('countryCode', 'known-country'))
  return errors
}

/** A new campaign as it is before its first decision is written. */
function newCampaign(origin: Origin, fields: Partial<Fields>): LockedCampaign {
  const { name, dateFrom, dateTo, merchantCompensationPercentage } = fields as Fields
  return {
    ...origin,
    status: 'awaitingBankApproval',
    name,
    dateFrom,
    dateTo,
    merchantPays: Number(merchantCompensationPercentage) > 0,
    banks: [],
    version: 1,
    updatedAt: origin.createdAt,
    compensationReceivedAt: null,
  }
}
