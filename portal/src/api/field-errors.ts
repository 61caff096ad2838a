/**
 * Shows broken rules at the fields of a form, in the person's language. The platform sends each rule as a code with its
 * values.
 */
import type { Language } from '../i18n/language.ts'
import type { ApiError, FieldError } from './errors.ts'
import { ruleTexts } from './rule-texts.ts'

/**
 * A broken rule in the person's language. If the portal does not know the rule, because the platform is newer, returns
 * the platform's message.
 */
export function fieldErrorText(
  { rule, params, message }: Pick<FieldError, 'rule' | 'params' | 'message'>,
  language: Language,
): string {
  return ruleTexts[rule]?.[language](params) ?? message
}

/**
 * Assigns an error's broken rules to the fields of a form.
 *
 * @param fields the names of the form's fields. If `fields` contains `terminals.0.terminal_id`, an error of that path is
 *   shown there, and otherwise at `terminals`
 * @returns the text for each field, and the messages that belong to no field
 */
export function errorsByField<Field extends string>(
  error: ApiError,
  fields: readonly Field[],
  language: Language,
): { byField: Partial<Record<Field, string>>; others: string[] } {
  const byField: Partial<Record<Field, string>> = {}
  const placed = new Set<string>()
  for (const fieldError of error.fieldErrors) {
    const field = nearestField(fieldError.field, fields)
    if (!field) continue
    placed.add(fieldError.message)
    const text = fieldErrorText(fieldError, language)
    const line = fieldError.field === field ? text : `${fieldError.field.slice(field.length + 1)}: ${text}`
    byField[field] = byField[field] ? `${byField[field]}; ${line}` : line
  }
  return { byField, others: error.messages.filter(message => !placed.has(message)) }
}

function nearestField<Field extends string>(path: string, fields: readonly Field[]): Field | undefined {
  const fitting = fields.filter(field => path === field || path.startsWith(`${field}.`))
  return fitting.sort((one, other) => other.length - one.length)[0]
}
