/**
 * Collects the changes that a directory file makes, by entry and field (contract/operations.md, "The directory file").
 */
import { firstCharacters } from '../text/shown-text.ts'
import { type EntryKind, type EntryTable, entryKinds, type FieldValues } from './tables.ts'

/** `[old, new]`; old is null in a new entry. */
export type FieldChange = [old: unknown, new: unknown]
export type TerminalsChange = { added: number; removed: number; changed: number }

export type Change = {
  kind: EntryKind
  /** The code of the entry; for a tariff, `operator/tariff`. */
  code: string
  change: 'created' | 'updated'
  fields: Record<string, FieldChange | TerminalsChange>
}

export type Changes = {
  /** Adds a change, or adds fields to the change of the same entry. */
  add(change: Change): void
  count(kind?: EntryKind): { created: number; updated: number }
  /** The codes of all changed entries of a kind. */
  codes(kind: EntryKind): string[]
  /** Every changed bank and merchant, with the fields that changed. */
  ofPartners(): { kind: (typeof partnerKinds)[number]; code: string; fields: Change['fields'] }[]
  /** The changes in the order of the file's lists, at most `maxShown`. */
  shown(): { changes: Change[]; truncated?: true }
}

const maxShown = 1_000
const partnerKinds = ['bank', 'merchant'] as const
/** Maximum length of a value that is shown in full, in UTF-16 units. The data of pictures can be longer, and descriptions. */
const maxText = 2_048
/** How many characters of a longer value are shown. */
const shownOfLong = 64

/**
 * Creates an empty collection. It counts all changes, but of each kind it keeps only as many as can be shown. It keeps
 * all changes of banks and merchants, because the audit log has an entry for each.
 */
export function createChanges(): Changes {
  const states = new Map(entryKinds.map(kind => [kind, new Map<string, Change['change']>()]))
  const keptOf = new Map(entryKinds.map(kind => [kind, new Map<string, Change>()]))
  const count = (kind: EntryKind) => {
    const all = [...(states.get(kind)?.values() ?? [])]
    const created = all.filter(change => change === 'created').length
    return { created, updated: all.length - created }
  }
  return {
    add(change) {
      const { kind, code, fields } = change
      const state = states.get(kind)
      const kept = keptOf.get(kind)
      if (!state?.has(code)) state?.set(code, change.change)
      const before = kept?.get(code)
      if (before) Object.assign(before.fields, fields)
      else if (kept && (partnerKinds.some(one => one === kind) || kept.size < maxShown))
        kept.set(code, { ...change, fields: { ...fields } })
    },
    count(kind) {
      const counts = (kind ? [kind] : entryKinds).map(count)
      const sum = (name: 'created' | 'updated') => counts.reduce((total, each) => total + each[name], 0)
      return { created: sum('created'), updated: sum('updated') }
    },
    codes: kind => [...(states.get(kind)?.keys() ?? [])],
    ofPartners: () =>
      partnerKinds.flatMap(kind =>
        [...(states.get(kind)?.keys() ?? [])].map(code => {
          return { kind, code, fields: keptOf.get(kind)?.get(code)?.fields ?? {} }
        }),
      ),
    shown() {
      const { created, updated } = this.count()
      const changes = [...keptOf.values()].flatMap(kept => [...kept.values()]).slice(0, maxShown)
      return created + updated > changes.length ? { changes, truncated: true } : { changes }
    },
  }
}

/**
 * Returns the fields that differ between two versions of an entry.
 *
 * @param before null for a new entry; all fields with a value are then returned
 */
export function changedFields(
  table: EntryTable,
  before: FieldValues | null,
  after: FieldValues,
): Record<string, FieldChange> {
  const changed: Record<string, FieldChange> = {}
  for (const [name, { toShown = asItIs }] of Object.entries(table.fields)) {
    const shown = toShown(after[name])
    const old = before ? toShown(before[name]) : null
    const isChanged = before ? JSON.stringify(old) !== JSON.stringify(shown) : !isEmpty(shown)
    if (isChanged) changed[name] = [shortened(old), shortened(shown)]
  }
  return changed
}

const asItIs = (value: unknown): unknown => value

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

function shortened(value: unknown): unknown {
  return typeof value === 'string' && value.length > maxText ? `${firstCharacters(value, shownOfLong)}…` : value
}
