/** Old and new values of entries in readable words. Unknown values are shown unchanged. */

import { changeTexts } from '../../campaigns/history/change-texts.ts'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { sessionTexts } from '../../session/texts.ts'
import { directoryTexts } from '../../ui/directory-texts.ts'
import { statusTexts } from '../../ui/status-texts.ts'
import { accountTexts } from '../texts.ts'
import { fieldTexts } from './field-texts.ts'
import type { KnownNames } from './names.ts'
import type { Entry } from './queries.ts'

/** `before` is '' if there is nothing to show. */
export type ShownChange = { field: string; before: string; after: string }

const amounts = ['minAmount', 'maxAmount', 'maxBudget']
const percents = ['percentage', 'merchantCompensationPercentage', 'esim.statement.commissionPercentage']
const named = ['participantsIds', 'paymentSystemsId', 'cashbackId']
/**
 * Fields that describe the action itself, such as the number of imported profiles. They have no old value, so only the new value is
 * shown.
 */
const ofAct = [
  'byPortal',
  'created',
  'customers',
  'deliveries',
  'hash',
  'invitation',
  'method',
  'number',
  'others',
  'profiles',
  'reason',
  'resealed',
  'resume',
  'sha256',
  'tries',
  'updated',
  'withoutAccess',
  'withoutCode',
  'wrongCodes',
  'wrongPasswords',
  'wrongSecrets',
]
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/
/** Longer lists are shown by their length only. */
const maxListed = 8

/** @returns a function that lists an entry's changes: the field's name, the old value and the new one */
export function useShownChanges(known: KnownNames): (entry: Entry) => ShownChange[] {
  const texts = useTexts(fieldTexts)
  const nameOf = useFieldName(known)
  const shown = useShownValue(known)
  return entry =>
    Object.entries(entry.change).map(([field, [before, after]]) => {
      // The field has changed, but the log does not contain its values.
      if (before === null && after === null) return { field: nameOf(field), before: '', after: texts.changed }
      const isOfAct = before === null && (ofAct.includes(field) || isListChange(after))
      return {
        field: nameOf(field),
        before: isOfAct ? '' : shown(entry, field, before),
        after: shown(entry, field, after),
      }
    })
}

/** Returns a function that names a field. In `participation.<bankId>`, the id is replaced by the name of the bank. */
function useFieldName(known: KnownNames): (field: string) => string {
  const texts = useTexts(fieldTexts)
  const names: Record<string, string> = {
    ...useTexts(directoryTexts).fields,
    ...useTexts(changeTexts).fields,
    ...texts.fields,
  }
  return field => {
    const [first = '', id] = field.split('.')
    if (id === undefined || names[field] !== undefined) return names[field] ?? field
    return names[first] === undefined ? field : texts.partOf(names[first], known.get(id) ?? texts.aBank)
  }
}

function useShownValue(known: KnownNames): (entry: Entry, field: string, value: unknown) => string {
  const texts = useTexts(fieldTexts)
  const format = useFormat()
  const names = useNames()
  const word = useWords()
  const listed = useShownList(known)
  const listChange = useShownListChange(listed)
  const changed = useTexts(directoryTexts).terminalsChange
  return (entry, field, value) => {
    if (value === null || value === undefined || value === '') return texts.nothing
    if (typeof value === 'boolean') return value ? texts.yes : texts.no
    if (Array.isArray(value)) return listed(field, value)
    if (field === 'terminals' && isTerminalsChange(value))
      return changed(format.number(value.added), format.number(value.removed), format.number(value.changed))
    if (isListChange(value)) return listChange(field, value)
    if (typeof value === 'object') return listed(field, Object.entries(value))
    const text = String(value)
    if (percents.includes(field)) return format.percent(Number(value))
    if (amounts.includes(field)) return format.money(Number(value))
    if (field === 'countryCode') return names.country(text)
    if (instant.test(text)) return format.dateTime(text)
    if (typeof value === 'number') return format.number(value)
    return word(entry, field)[text] ?? known.get(text) ?? text
  }
}

type TerminalsChange = { added: number; removed: number; changed: number }
const isTerminalsChange = (value: object): value is TerminalsChange => 'changed' in value

/** What was added to a list and removed from it: the elements, or only their number. */
type ListChange = Record<'added' | 'removed', readonly unknown[] | number>
const isListChange = (value: unknown): value is ListChange =>
  typeof value === 'object' && value !== null && Object.keys(value).join() === 'added,removed'

/** @param listed writes the elements of a list */
function useShownListChange(listed: ReturnType<typeof useShownList>): (field: string, change: ListChange) => string {
  const texts = useTexts(fieldTexts)
  const format = useFormat()
  return (field, change) => {
    const parts = (['added', 'removed'] as const).flatMap(name => {
      const elements = change[name]
      const count = typeof elements === 'number' ? elements : elements.length
      const shown = typeof elements === 'number' ? format.number(elements) : listed(field, elements)
      return count === 0 ? [] : [texts.named(texts[name], shown)]
    })
    return parts.join('; ') || texts.changed
  }
}

/**
 * Returns a function that writes the elements of a list, or only their number if the list is long. An element may be a
 * pair of a name and a value.
 */
function useShownList(known: KnownNames): (field: string, elements: readonly unknown[]) => string {
  const texts = useTexts(fieldTexts)
  const format = useFormat()
  const networks: Record<string, string> = texts.networks
  const shown = (element: unknown, field: string): string => {
    if (!Array.isArray(element))
      return named.includes(field) ? (known.get(String(element)) ?? String(element)) : plain(element)
    const [name, value] = element
    const inside = Array.isArray(value) ? value.map(plain).join(', ') || texts.everywhere : plain(value)
    return texts.named(networks[name] ?? plain(name), inside)
  }
  return (field, elements) => {
    if (elements.length === 0) return texts.nothing
    if (elements.length > maxListed) return texts.entries(format.number(elements.length))
    return elements.map(element => shown(element, field)).join(Array.isArray(elements[0]) ? '; ' : ', ')
  }
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The words for the values of a field. */
function useWords(): (entry: Entry, field: string) => Record<string, string> {
  const texts = useTexts(fieldTexts)
  const statuses = useTexts(statusTexts)
  const directory = useTexts(directoryTexts)
  const account = useTexts(accountTexts)
  const words: Record<string, Record<string, string>> = {
    role: useTexts(sessionTexts).role,
    language: texts.languages,
    mfa: texts.factorRules,
    method: account.profile.methods,
    participation: statuses.participation,
    stage: statuses.reporting,
    reason: texts.reasons,
    resume: texts.resumes,
    order: texts.orders,
    'esim.deliveryMode': directory.deliveryModes,
    'esim.operators': { all: directory.allOperators },
  }
  return ({ object }, field) => {
    if (field === 'status') return object.type === 'campaign' ? statuses.campaign : statuses.partner
    return words[field] ?? words[field.split('.')[0] ?? ''] ?? {}
  }
}
