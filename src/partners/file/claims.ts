/** Checks the codes and ids of a directory file against the file itself and the directory in the database. */

import type { Queryable } from '../../db/database.ts'
import { type BrokenRule, broken, type RuleCode, type RuleParams } from '../../error-rules.ts'
import type { DirectoryClaims } from './directory-file.ts'
import type { Entry, Reference } from './directory-schema.ts'

type Known = { kind: Entry['kind']; code: string; id: string }

const kindNames: Record<Entry['kind'], string> = {
  country: 'country',
  paymentSystem: 'payment system',
  bank: 'bank',
  merchant: 'merchant',
  mobileOperator: 'mobile operator',
  tariff: 'tariff',
}

/**
 * Checks a file's claims: codes that must exist, and ids that must not differ from the stored ones.
 *
 * @returns `errors`: every absent key of a new entry, and every wrong code or id, with path and line. `existing`: an
 *   error for each entry that exists already, which counts only in the mode `create`
 */
export async function checkClaims(
  database: Queryable,
  claims: DirectoryClaims,
): Promise<{ errors: BrokenRule[]; existing: BrokenRule[] }> {
  const known = await findKnown(database, claims)
  const knownKeys = new Set(known.map(keyOf))
  const isKnown = (entry: Entry) => knownKeys.has(keyOf(entry))
  const missing = claims.entries.filter(entry => !isKnown(entry)).flatMap(entry => entry.missing)
  return {
    errors: [...missing, ...missingReferences(claims, known), ...wrongIds(claims.entries, known)],
    existing: claims.entries
      .filter(entry => isKnown(entry) && !entry.namesOnlyTariffs)
      .map(
        ({ path, line, kind, code }): BrokenRule => ({
          ...broken(`${path}.code`, 'new', { kind: kindNames[kind], code }),
          line,
        }),
      ),
  }
}

const keyOf = ({ kind, code }: Pick<Reference | Entry, 'kind' | 'code'>) => `${kind} ${code}`

function missingReferences({ references, entries }: DirectoryClaims, known: Known[]): BrokenRule[] {
  const existing = new Set([...entries, ...known].map(keyOf))
  return references
    .filter(reference => !existing.has(keyOf(reference)))
    .map(({ path, line, kind, code }) => ({ ...broken(path, 'existing', { kind: kindNames[kind], code }), line }))
}

function wrongIds(entries: readonly Entry[], known: Known[]): BrokenRule[] {
  const kept = new Map(known.map(({ kind, code, id }) => [`${kind} ${code}`, id]))
  const keptBy = new Map(known.map(one => [one.id, one]))
  const givenBy = new Map<string, Entry>()
  return entries.flatMap(entry => {
    const { path, line, kind, code, id } = entry
    if (id === undefined) return []
    const error = (rule: RuleCode, params: RuleParams) => [{ ...broken(`${path}.id`, rule, params), line }]
    const before = kept.get(`${kind} ${code}`)
    if (before !== undefined && before !== id) return error('lasting-id', { id: before })
    const other = givenBy.get(id)
    givenBy.set(id, other ?? entry)
    // The reader of the file has already reported duplicates within one list, so they are not reported again here.
    const isReported = other !== undefined && listOf(other) === listOf(entry)
    const holder = before === id || isReported ? undefined : (keptBy.get(id) ?? other)
    return holder ? error('free-id', { kind: kindNames[holder.kind], code: holder.code }) : []
  })
}

/** The path of the list that contains the entry. */
function listOf({ path }: Entry): string {
  return path.slice(0, path.lastIndexOf('['))
}

/** The existing entries with one of these codes or ids. */
function findKnown(database: Queryable, { references, entries }: DirectoryClaims): Promise<Known[]> {
  const tables = [
    { kind: 'country', from: 'countries', code: 'code', id: 'country_id' },
    { kind: 'paymentSystem', from: 'payment_systems', code: 'code', id: 'payment_system_id' },
    { kind: 'bank', from: 'banks', code: 'code', id: 'bank_id' },
    { kind: 'merchant', from: 'merchants', code: 'code', id: 'merchant_id' },
    { kind: 'mobileOperator', from: 'mobile_operators', code: 'code', id: 'uuid' },
    {
      kind: 'tariff',
      from: 'tariffs t join mobile_operators m using (mobile_operator_id)',
      // This SQL writes the key of a tariff in the same form as `tariffKey` does.
      code: `m.code || '/' || t.code`,
      id: 't.uuid',
    },
  ]
  const parts = tables.map(
    ({ kind, from, code, id }) => `
      select '${kind}' as kind, ${code} as code, ${id} as id from ${from}
      where ${code} = any($1) or ${id} = any($2::uuid[])`,
  )
  return database.query<Known>(parts.join(' union all '), [
    [...new Set([...references, ...entries].map(({ code }) => code))],
    entries.flatMap(({ id }) => id ?? []),
  ])
}
