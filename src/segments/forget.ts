/** Exports what is stored about a customer, and forgets customers (contract/operations.md, "Customers"). */
import { setImmediate as othersTurn } from 'node:timers/promises'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { changeSegment } from '../campaigns/lifecycle/transitions-store.ts'
import { type Queryable, queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { type Origin, operatorOrigin } from '../outbox/origin.ts'
import { findBank, findCustomerBank } from './customer-lookup-store.ts'
import { bankAccount } from './customers.ts'
import { lockCustomers } from './customers-store.ts'
import * as store from './forget-store.ts'
import { stageCustomers } from './staging.ts'

/**
 * Forgets the customers of a file. It deletes them first from the directory, so that no new segment contains them, and
 * then from each segment. If it is interrupted, run it again with the same file.
 *
 * @param params.bank the bank's code
 * @returns `unknown`: how many ids of the file were no customers of this bank
 * @throws DomainError 'not-found' for an unknown bank; 'invalid' for an invalid file
 */
export async function forgetCustomers(
  deps: Pick<CampaignDeps, 'database' | 'clock'> & { origin?: Origin },
  params: { bank: string; source: AsyncIterable<unknown> },
): Promise<{ forgotten: number; unknown: number }> {
  const { id: bankId } = await requireBank(deps.database, params.bank)
  return deps.database.dedicated(async client => {
    const connection = queryable(client)
    const inTransaction = async <T>(work: () => Promise<T>): Promise<T> => {
      // After an error no rollback is needed: the connection closes, and the transaction ends with it.
      await client.query('begin')
      const result = await work()
      await client.query('commit')
      return result
    }
    const counts = await inTransaction(async () => {
      await stageCustomers(client, params.source)
      await store.keepStaged(connection)
      // Transactions that form segments share this lock. This call waits until all of them have ended, so that the
      // search below also finds their segments.
      await lockCustomers(connection)
      const forgotten = await store.deleteForgotten(connection, bankId)
      const change = { customers: [forgotten, 0] } as const
      const fact = {
        action: 'customers.forgotten',
        object: { type: 'bank', id: bankId },
        owner: bankAccount(bankId),
        change,
      }
      if (forgotten > 0) await recordEntries(connection, deps.origin ?? operatorOrigin(), [fact])
      return { forgotten, unknown: (await store.countForgotten(connection)) - forgotten }
    })
    for (const cashbackId of await store.findSegmentsOfForgotten(connection, bankId)) {
      await inTransaction(() =>
        changeSegment(connection, { cashbackId, bankId, now: deps.clock.now() }, () =>
          store.cutSegment(connection, cashbackId, bankId),
        ),
      )
      await othersTurn()
    }
    return counts
  })
}

export type KeptOfCustomer = {
  customerId: string
  bank: { id: string; code: string; name: string }
  /** Whether the directory has the customer. */
  inDirectory: boolean
  segments: store.SegmentOfCustomer[]
}

/**
 * What the platform stores about a bank's customer. Reports and orders contain no customer ids.
 *
 * @throws DomainError 'not-found' for an unknown bank
 */
export async function exportCustomer(
  { database }: { database: Queryable },
  params: { bank: string; customerId: string },
): Promise<KeptOfCustomer> {
  const { bank, customerId } = params
  const owner = await requireBank(database, bank)
  const known = await findCustomerBank(database, customerId)
  const segments = await store.findSegmentsOf(database, owner.id, customerId)
  return { customerId, bank: owner, inDirectory: known?.id === owner.id, segments }
}

async function requireBank(database: Queryable, code: string): Promise<KeptOfCustomer['bank']> {
  const bank = await findBank(database, code)
  if (!bank) throw new DomainError('not-found', `There is no bank ${code}`)
  return bank
}
