/**
 * The customer directory: the platform's operator imports which customer belongs to which bank (contract/operations.md,
 * "Customers").
 */
import { findOwner } from '../access/accounts.ts'
import { type Database, queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { DomainError } from '../errors.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { type Origin, operatorOrigin } from '../outbox/origin.ts'
import { lineProblem } from './customer-rules.ts'
import { analyzeCustomers, findOthersCustomers, lockCustomers, takeCustomers } from './customers-store.ts'
import { stageCustomers, wrongLines } from './staging.ts'

const shownErrors = 20
const analyzeFrom = 1_000

/**
 * Imports a file of customers of one bank as a stream, all or nothing. Existing segments stay as they are.
 *
 * @param input.bank the bank's code
 * @returns `duplicates`: the number of lines that repeat an earlier line, or whose customer was already in the
 *   directory
 * @throws DomainError 'not-found' for an unknown bank; 'invalid' for an invalid or incomplete file, and when a customer
 *   belongs to another bank: customers are never moved silently
 */
export async function importCustomers(
  { database, origin = operatorOrigin() }: { database: Database; origin?: Origin },
  input: { bank: string; source: AsyncIterable<unknown> },
): Promise<{ imported: number; duplicates: number }> {
  const { bank, source } = input
  const owner = await findOwner(database, { bank })
  if (!owner || !('bankId' in owner)) throw new DomainError('not-found', `There is no bank ${bank}`)
  const { bankId } = owner
  return longTransaction(database, async client => {
    const transaction = queryable(client)
    const staged = await stageCustomers(client, source)
    await lockCustomers(transaction)
    const others = await findOthersCustomers(transaction, bankId, shownErrors)
    if (others.count > 0)
      throw wrongLines(
        others.lines.map(line => lineProblem(line, { rule: 'other-bank', params: { bank } })),
        others.count,
      )
    const imported = await takeCustomers(transaction, bankId)
    const change = { customers: [null, imported] } as const
    const fact = {
      action: 'customers.imported',
      object: { type: 'bank', id: bankId },
      owner: bankAccount(bankId),
      change,
    }
    if (imported > 0) await recordEntries(transaction, origin, [fact])
    if (imported >= analyzeFrom) await analyzeCustomers(transaction)
    return { imported, duplicates: staged - imported }
  })
}

export const bankAccount = (id: string) => ({ type: 'bank', id }) as const
