/** What a directory file claims about codes and ids, held against the file itself and the directory in the database. */
import type { Queryable } from '../db/database.ts'
import type { DirectoryClaims } from './directory-file.ts'
import type { Entry, Reference } from './directory-schema.ts'

type Known = { kind: Entry['kind']; code: string; id: string | null }

const kindNames: Record<Entry['kind'], string> = {
  country: 'country',
  paymentSystem: 'payment system',
  bank: 'bank',
  merchant: 'merchant',
  mobileOperator: 'mobile operator',
}

/** @returns every claim that does not hold, as a fault with path and line */
export async function checkClaims(database: Queryable, claims: DirectoryClaims): Promise<string[]> {
  const known = await findKnown(database, claims)
  return [...missingReferences(claims, known), ...wrongIds(claims.entries, known)]
}

function missingReferences({ references, entries }: DirectoryClaims, known: Known[]): string[] {
  const keyOf = ({ kind, code }: Pick<Reference | Entry, 'kind' | 'code'>) => `${kind} ${code}`
  const existing = new Set([...entries, ...known].map(keyOf))
  return references
    .filter(reference => !existing.has(keyOf(reference)))
    .map(({ path, line, kind, code }) => {
      const name = kindNames[kind]
      return `${path} (line ${line}): must be the code of a ${name}, here or applied before; no ${name} is called ${code}`
    })
}

function wrongIds(entries: readonly Entry[], known: Known[]): string[] {
  const kept = new Map(known.map(({ kind, code, id }) => [`${kind} ${code}`, id]))
  const keptBy = new Map(known.map(one => [one.id, one]))
  const givenBy = new Map<string, Entry>()
  return entries.flatMap(entry => {
    const { path, line, kind, code, id } = entry
    if (id === undefined) return []
    const fault = (text: string) => [`${path}.id (line ${line}): must ${text}`]
    const before = kept.get(`${kind} ${code}`)
    if (before !== undefined && before !== id) return fault(`be ${before} or omitted: an id never changes`)
    const other = givenBy.get(id)
    givenBy.set(id, other ?? entry)
    // Twice in one list is told by the reader of the file.
    const holder = before === id || other?.kind === kind ? undefined : (keptBy.get(id) ?? other)
    return holder ? fault(`be unique; ${kindNames[holder.kind]} ${holder.code} has it already`) : []
  })
}

/** The entries applied before that have one of the codes or ids in question. */
function findKnown(database: Queryable, { references, entries }: DirectoryClaims): Promise<Known[]> {
  const withId = entries.filter(({ id }) => id !== undefined)
  const tables = [
    { kind: 'country', name: 'countries', id: 'country_id' },
    { kind: 'paymentSystem', name: 'payment_systems', id: 'payment_system_id' },
    { kind: 'bank', name: 'banks', id: 'bank_id' },
    { kind: 'merchant', name: 'merchants', id: 'merchant_id' },
    { kind: 'mobileOperator', name: 'mobile_operators', id: null },
  ]
  const parts = tables.map(
    ({ kind, name, id }) => `
      select '${kind}' as kind, code, ${id ?? 'null::uuid'} as id from ${name}
      where code = any($1) ${id ? `or ${id} = any($2::uuid[])` : ''}`,
  )
  return database.query<Known>(parts.join(' union all '), [
    [...new Set([...references, ...withId].map(({ code }) => code))],
    withId.map(({ id }) => id),
  ])
}
