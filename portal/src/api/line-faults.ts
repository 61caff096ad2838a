/** What is wrong with a line of a file, in the person's language. The platform words it in English: `line 7: amount must be ..., not "12,5"`. */
import type { Language } from '../i18n/language.ts'
import { readFault } from './errors.ts'
import { faultText } from './faults.ts'

/** @param message of a 400; one that names no line stays as the platform words it */
export function lineFaultText(message: string, language: Language): string {
  const [, line, fault = ''] = /^line (\d+): (.+)$/s.exec(message) ?? []
  if (language === 'en' || line === undefined) return message
  const [, said = fault, value] = /^(.+?), not (".*")$/s.exec(fault) ?? []
  const given = value === undefined ? '' : ` (${value})`
  const [, header] = /^the header must be (.+?)(?: \(.+\))?$/s.exec(said) ?? []
  if (header) return `Рядок ${line}: заголовок має бути ${header}${given}`
  const ofColumn = readFault(said)
  return ofColumn
    ? `Рядок ${line}, ${ofColumn.field}: ${faultText(ofColumn, language)}${given}`
    : `Рядок ${line}: ${fault}`
}
