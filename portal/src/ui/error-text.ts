/** What went wrong, in people's words. */
import { ApiError, noAnswer } from '../api/errors.ts'
import type { SameTexts } from '../i18n/texts.ts'
import { NotLoaded } from './not-loaded.ts'
import type { uiTexts } from './texts.ts'

type Texts = SameTexts<(typeof uiTexts)['en']>

export type ErrorText = {
  title: string
  text: string
  /** What the platform says itself, when that tells more. */
  details: string[]
  requestId: string | null
  /** Whether trying again may help. */
  isPassing: boolean
}

export function errorText(error: unknown, texts: Texts): ErrorText {
  const { errors } = texts
  if (error instanceof NotLoaded)
    return { title: errors.title, text: errors.noAnswer, details: [], requestId: null, isPassing: true }
  if (!(error instanceof ApiError))
    return { title: errors.title, text: errors.unexpected, details: [], requestId: null, isPassing: true }
  const { status, messages, requestId } = error
  if (status === noAnswer)
    return { title: errors.title, text: errors.noAnswer, details: [], requestId: null, isPassing: true }
  const isKnown = status in errors
  return {
    title: status === 403 ? texts.forbidden : errors.title,
    text: isKnown ? errors[status as 400] : errors.unexpected,
    details: [400, 409, 413].includes(status) ? messages : [],
    requestId: status >= 500 ? requestId : null,
    isPassing: status >= 500 || status === 429,
  }
}
