/** What partners do with single deliveries (contract/webhooks.md, "The log"). */
import type { Account } from '../caller.ts'
import type { Database, Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import type { Origin } from '../outbox/origin.ts'
import { maxPending } from './endpoint-store.ts'
import { ownerOf } from './endpoints.ts'
import * as store from './log-store.ts'
import { failuresOfRetry } from './schedule.ts'

const notFound = () => new DomainError('not-found', 'There is no such delivery')

/** @throws DomainError 'not-found' when the account has no such delivery */
export async function readDelivery(database: Queryable, account: Account, deliveryId: string): Promise<store.Delivery> {
  const delivery = await store.findDelivery(database, account, deliveryId)
  if (delivery === null) throw notFound()
  return delivery
}

async function note(
  transaction: Queryable,
  origin: Origin,
  { action, account, deliveryId }: { action: string; account: Account; deliveryId: string },
): Promise<void> {
  const owner = ownerOf({ accountType: account.type, accountId: account.id })
  await recordEntries(transaction, origin, [{ action, object: { type: 'delivery', id: deliveryId }, owner }])
}

async function lock(transaction: Queryable, account: Account, deliveryId: string): Promise<store.LockedDelivery> {
  const delivery = await store.lockDelivery(transaction, account, deliveryId)
  if (delivery === null) throw notFound()
  return delivery
}

/**
 * Attempts a delivery now, whatever its state. A finished delivery gets one attempt and no new schedule.
 *
 * @throws DomainError 'not-found' when the account has no such delivery; 'conflict' when its endpoint is disabled or
 *   deleted, or the delivery is a test; 'limit-reached' when the delivery is finished and the endpoint already has the
 *   maximum number of unfinished deliveries
 */
export function retryDelivery(
  { database, origin }: { database: Database; origin: Origin },
  account: Account,
  deliveryId: string,
): Promise<store.Delivery> {
  return database.transaction(async transaction => {
    // Lock the endpoint before the delivery, as everywhere, to prevent deadlocks.
    await store.lockEndpointOf(transaction, account, deliveryId)
    const { endpointId, day, state, isTest, endpointStatus, isDeleted } = await lock(transaction, account, deliveryId)
    if (isDeleted || endpointStatus === 'disabled')
      throw new DomainError('conflict', 'The endpoint is disabled or deleted')
    if (isTest) throw new DomainError('conflict', 'A test is not repeated: send another one')
    if (state !== 'pending' && (await store.isEndpointFull(transaction, endpointId)))
      throw new DomainError('limit-reached', `An endpoint has at most ${maxPending} unfinished deliveries`)
    await note(transaction, origin, { action: 'delivery.retried', account, deliveryId })
    await store.forceDelivery(transaction, { deliveryId, day, failures: state === 'pending' ? null : failuresOfRetry })
    return readDelivery(transaction, account, deliveryId)
  })
}

/**
 * Skips a delivery: it is not attempted again, and later deliveries can continue. A repeated call changes nothing.
 *
 * @throws DomainError 'not-found' when the account has no such delivery; 'conflict' when the delivery has succeeded or
 *   failed
 */
export function skipDelivery(
  { database, origin }: { database: Database; origin: Origin },
  account: Account,
  deliveryId: string,
): Promise<store.Delivery> {
  return database.transaction(async transaction => {
    const { day, state } = await lock(transaction, account, deliveryId)
    if (state === 'delivered' || state === 'failed') throw new DomainError('conflict', `The delivery is ${state}`)
    if (state === 'pending') await note(transaction, origin, { action: 'delivery.skipped', account, deliveryId })
    await store.skipDelivery(transaction, { deliveryId, day })
    return readDelivery(transaction, account, deliveryId)
  })
}
