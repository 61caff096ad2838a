/** The platform's rules in people's words, shown at the field. The platform gives each rule a code with its values. */
import type { Language } from '../i18n/language.ts'
import type { ApiError, Fault } from './errors.ts'
import { ruleTexts } from './rule-texts.ts'

/** A fault in people's words; one of a newer platform, which is not known here, keeps the platform's wording. */
export function faultText(
  { rule, params, message }: Pick<Fault, 'rule' | 'params' | 'message'>,
  language: Language,
): string {
  return ruleTexts[rule]?.[language](params) ?? message
}

/**
 * Sorts an error's faults to the fields of a form.
 *
 * @param fields the form's fields; a nested one (`terminals.0.terminal_id`) belongs to the nearest one above it, unless it is
 *   itself named
 * @returns the text for each field, and the messages that belong to none
 */
export function faultsByField<Field extends string>(
  error: ApiError,
  fields: readonly Field[],
  language: Language,
): { byField: Partial<Record<Field, string>>; others: string[] } {
  const byField: Partial<Record<Field, string>> = {}
  const placed = new Set<string>()
  for (const fault of error.faults) {
    const field = nearestField(fault.field, fields)
    if (!field) continue
    placed.add(fault.message)
    const text = faultText(fault, language)
    const line = fault.field === field ? text : `${fault.field.slice(field.length + 1)}: ${text}`
    byField[field] = byField[field] ? `${byField[field]}; ${line}` : line
  }
  return { byField, others: error.messages.filter(message => !placed.has(message)) }
}

function nearestField<Field extends string>(path: string, fields: readonly Field[]): Field | undefined {
  const fitting = fields.filter(field => path === field || path.startsWith(`${field}.`))
  return fitting.sort((one, other) => other.length - one.length)[0]
}
