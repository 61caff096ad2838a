/** Error messages in the person's language. */
import { ApiError, FileChangedError, noAnswer } from '../api/errors.ts'
import { fieldErrorText } from '../api/field-errors.ts'
import { problemText } from '../api/file-problems.ts'
import type { Language } from '../i18n/language.ts'
import type { SameTexts } from '../i18n/texts.ts'
import { NotLoaded } from './not-loaded.ts'
import type { uiTexts } from './texts.ts'

type Texts = SameTexts<(typeof uiTexts)['en']>

export type ErrorText = {
  title: string
  text: string
  /** The rules that the request breaks; empty for errors where such details do not help the person. */
  details: string[]
  requestId: string | null
  /** Whether the error may be temporary, so that trying again may help. */
  isPassing: boolean
}

export function errorText(error: unknown, texts: Texts, language: Language): ErrorText {
  const { errors } = texts
  if (error instanceof NotLoaded)
    return { title: errors.title, text: errors.updated, details: [], requestId: null, isPassing: true }
  if (error instanceof FileChangedError)
    return { title: errors.title, text: errors.fileChanged, details: [], requestId: null, isPassing: false }
  if (!(error instanceof ApiError))
    return { title: errors.title, text: errors.unexpected, details: [], requestId: null, isPassing: true }
  const { status, requestId, code, problems } = error
  if (status === noAnswer)
    return { title: errors.title, text: errors.noAnswer, details: [], requestId: null, isPassing: true }
  const isKnown = status in errors
  if (code === 'campaign-state' && problems.length === 0)
    return { title: errors.noLonger, text: errors.campaignState, details: [], requestId: null, isPassing: false }
  const ofCode = errors.codes[code as keyof typeof errors.codes]
  if (ofCode !== undefined)
    return { title: errors.title, text: ofCode, details: [], requestId: null, isPassing: code === 'feed-restarted' }
  const named =
    problems.length > 0 ? problems.map(problem => problemText(problem, language)) : messagesOf(error, language)
  return {
    title: status === 403 ? texts.forbidden : isTooLate(error) ? errors.noLonger : errors.title,
    text: isKnown ? errors[status as 400] : errors.unexpected,
    details: [400, 409, 413].includes(status) ? named : [],
    requestId: status >= 500 ? requestId : null,
    isPassing: status >= 500 || status === 429,
  }
}

/** True if the action failed because the campaign's period is over. Then trying again never helps. */
const isTooLate = ({ code, problems }: ApiError): boolean =>
  code === 'campaign-state' && problems.some(({ rule }) => rule === 'period-over')

/** The messages of an error. Those about the fields of a form are in the person's language. */
function messagesOf({ messages, fieldErrors }: ApiError, language: Language): string[] {
  const byMessage = new Map(fieldErrors.map(fieldError => [fieldError.message, fieldError]))
  return messages.map(message => {
    const fieldError = byMessage.get(message)
    return fieldError ? `${fieldError.field}: ${fieldErrorText(fieldError, language)}` : message
  })
}
