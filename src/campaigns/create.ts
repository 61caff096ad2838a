/** A merchant's new campaign (cashback document, POST /cashbacks/for-merchant). */
import { randomUUID } from 'node:crypto'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { type DirectoryEntries, findDirectoryEntries, insertCampaign } from './campaign-store.ts'
import type { CampaignDeps } from './deps.ts'
import { crossFaults, type Fields, mostFaults, readNewFields, settled } from './form.ts'
import * as lifecycle from './lifecycle.ts'
import { type Actor, type LockedCampaign, writeDecisions } from './moves-store.ts'
import type { Origin } from './terms.ts'

/**
 * Creates a campaign of the merchant and invites the banks.
 *
 * @param given.body as it came
 * @param given.schemaFaults what the schema has found in it
 * @throws DomainError 'invalid' with all faults of the body
 */
export function createAsMerchant(
  deps: Pick<CampaignDeps, 'database' | 'clock'>,
  given: { merchantId: string; actor: Actor; body: unknown; schemaFaults: readonly string[] },
): Promise<LockedCampaign> {
  return deps.database.transaction(async transaction => {
    const now = deps.clock.now()
    const { fields, faults } = readNewFields(given.body)
    const found = await findDirectoryEntries(transaction, {
      merchantId: given.merchantId,
      banks: fields.participantsIds,
      countryCode: fields.countryCode,
      paymentSystems: fields.paymentSystemsId,
    })
    refuseFaults([
      ...given.schemaFaults,
      ...faults,
      ...crossFaults(fields, now),
      ...bankFaults(fields.participantsIds, found),
      ...directoryFaults(fields, found),
    ])
    const origin = { cashbackId: randomUUID(), merchantId: given.merchantId, createdByBankId: null, createdAt: now }
    return insert(transaction, { origin, fields: fields as Fields, found, actor: given.actor })
  })
}

/** @throws DomainError 'invalid' when there are any */
export function refuseFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new DomainError('invalid', [...new Set(faults)].slice(0, mostFaults))
}

/** Banks that cannot be invited. */
export function bankFaults(invited: readonly string[] | undefined, found: DirectoryEntries): string[] {
  return (invited ?? []).flatMap((bankId, index) =>
    found.banks.includes(bankId)
      ? []
      : [`participantsIds.${index} must be a connected bank that the merchant does not exclude`],
  )
}

/** What the directory lacks; a malformed code has been told already. */
export function directoryFaults(fields: Partial<Fields>, found: DirectoryEntries): string[] {
  const { countryCode, paymentSystemsId = [] } = fields
  const faults = paymentSystemsId.flatMap((id, index) =>
    found.paymentSystems.includes(id) ? [] : [`paymentSystemsId.${index} must be a payment system of the platform`],
  )
  if (countryCode !== undefined && /^[A-Z]{2}$/.test(countryCode) && found.countryId === null)
    faults.push('countryCode must be a country of the platform')
  return faults
}

async function insert(
  transaction: Queryable,
  given: { origin: Origin; fields: Fields; found: DirectoryEntries; actor: Actor },
): Promise<LockedCampaign> {
  const { origin, found } = given
  const { participantsIds, ...offered } = given.fields
  const terms = settled(offered)
  if (found.countryId === null) throw new Error('A country that was not found is a fault')
  await insertCampaign(transaction, origin, terms, found.countryId)
  const campaign: LockedCampaign = {
    ...origin,
    status: 'awaitingBankApproval',
    name: terms.name,
    dateFrom: terms.dateFrom,
    dateTo: terms.dateTo,
    merchantPays: Number(terms.merchantCompensationPercentage) > 0,
    banks: [],
    version: 1,
    updatedAt: origin.createdAt,
    compensationReceivedAt: null,
  }
  const decided = { campaign, decision: lifecycle.create(participantsIds) }
  const [created] = await writeDecisions(transaction, [decided], { actor: given.actor, now: origin.createdAt })
  return created ?? campaign
}
