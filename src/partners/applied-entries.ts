/** The audit log entries about an applied directory file: one for the platform with the counts, and one for each changed partner. */

import type { Queryable } from '../db/database.ts'
import type { EntryChange } from '../outbox/audit-entry.ts'
import { type Fact, recordEntries } from '../outbox/audit-entry-writing.ts'
import type { Origin } from '../outbox/origin.ts'
import type { Change, Changes } from './changes.ts'
import { idsByCode } from './store.ts'

const action = 'directory.applied'

export async function recordApplied(transaction: Queryable, origin: Origin, changes: Changes): Promise<void> {
  const { created, updated } = changes.count()
  const counts = { created: [null, created], updated: [null, updated] } as const
  const partners = changes.ofPartners()
  const idOf = {
    bank: await idsByCode(transaction, 'banks', 'bank_id', ofKind('bank')),
    merchant: await idsByCode(transaction, 'merchants', 'merchant_id', ofKind('merchant')),
  }
  const facts = partners.map(({ kind, code, fields }): Fact => {
    const id = String(idOf[kind](code))
    return { action, object: { type: kind, id }, owner: { type: kind, id }, change: changeOf(fields) }
  })
  await recordEntries(transaction, origin, [
    { action, object: { type: 'directory', id: null }, change: counts },
    ...facts,
  ])

  function ofKind(kind: 'bank' | 'merchant') {
    return partners.filter(partner => partner.kind === kind)
  }
}

const changeOf = (fields: Change['fields']): EntryChange =>
  Object.fromEntries(
    Object.entries(fields).map(([name, change]) => [name, Array.isArray(change) ? change : ([null, change] as const)]),
  )
