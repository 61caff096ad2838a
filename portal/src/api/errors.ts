/** An error answer of the platform, in a form that pages and forms can show. */
import type { FileProblem } from './file-problems.ts'
import type { BrokenRule } from './rule-texts.ts'

/** A broken rule of a field, with its message: `terminals.0.terminal_id must be given`. */
export type FieldError = BrokenRule & { message: string }

/** The status of an error without any answer: the network or the platform cannot be reached. */
export const noAnswer = 0

/** The browser could not read a chosen file any more, because it has changed or is gone. */
export class FileChangedError extends Error {}

/** The person has cancelled the change. Nothing is shown, because this is not a failure. */
export class CancelledError extends Error {}

export class ApiError extends Error {
  /** The HTTP status, or `noAnswer`. */
  readonly status: number
  /** The platform's own messages. */
  readonly messages: string[]
  /** The messages about fields, each with its broken rule. */
  readonly fieldErrors: readonly FieldError[]
  /** The platform's code of this error; null when the answer has none. */
  readonly code: string | null
  /** The broken rules of an uploaded file, or of the request. */
  readonly problems: readonly FileProblem[]
  /** How many rules the file breaks in all. */
  readonly problemCount: number
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null

  constructor(
    status: number,
    messages: string[],
    headers: { get(name: string): string | null } | null,
    {
      problems = [],
      problemCount = problems.length,
      fieldErrors = [],
      code = null,
    }: Partial<Pick<ApiError, 'problems' | 'problemCount' | 'fieldErrors' | 'code'>> = {},
  ) {
    super(messages.join('; ') || `The platform answers ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.messages = messages
    this.problems = problems
    this.problemCount = problemCount
    this.code = code
    this.fieldErrors = fieldErrors
    this.requestId = headers?.get('x-request-id') ?? null
    this.retryAfterSeconds = Number(headers?.get('retry-after') ?? Number.NaN) || null
  }

  /**
   * Returns a copy of the error with other messages or field errors. Pages use it to remove messages that are shown
   * elsewhere, or to rename fields.
   */
  with({
    messages = this.messages,
    fieldErrors = this.fieldErrors,
  }: Partial<Pick<ApiError, 'messages' | 'fieldErrors'>>): ApiError {
    const get = (name: string) =>
      name === 'x-request-id' ? this.requestId : (this.retryAfterSeconds?.toString() ?? null)
    const { problems, problemCount, code } = this
    return new ApiError(this.status, messages, { get }, { problems, problemCount, fieldErrors, code })
  }
}

/** Pairs the rules with their messages: both lists have the same order, but some messages have no rule. */
function withMessages(rules: readonly BrokenRule[], messages: readonly string[]): FieldError[] {
  let next = 0
  return rules.flatMap(rule => {
    const at = messages.findIndex((message, index) => index >= next && message.startsWith(`${rule.field} `))
    if (at < 0) return []
    next = at + 1
    return [{ ...rule, message: messages[at] ?? '' }]
  })
}

/** @param body the body of an error of any API: `{message}` with one text or several */
export function apiError(status: number, body: unknown, headers: { get(name: string): string | null }): ApiError {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  const messages = [message].flat().filter(isText)
  const problems = problemsOf(body)
  return new ApiError(status, messages, headers, {
    problems,
    problemCount: problemCountOf(body) ?? problems.length,
    fieldErrors: withMessages(rulesOf(body, headers), messages),
    code: codeOf(body, headers),
  })
}

/** Returns the error code from the body, or from a header if the contract allows no such field in the body. */
function codeOf(body: unknown, headers: { get(name: string): string | null }): string | null {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
  return isText(code) ? code : headers.get('perkline-error-code')
}

/** Returns the broken rules from the body, or from a header if the contract allows no such field in the body. */
function rulesOf(body: unknown, headers: { get(name: string): string | null }): BrokenRule[] {
  const rules: unknown =
    typeof body === 'object' && body !== null && 'rules' in body
      ? body.rules
      : JSON.parse(headers.get('perkline-error-rules') ?? '[]')
  return Array.isArray(rules) ? rules : []
}

function problemsOf(body: unknown): FileProblem[] {
  const problems = typeof body === 'object' && body !== null && 'problems' in body ? body.problems : undefined
  return Array.isArray(problems) ? problems : []
}

function problemCountOf(body: unknown): number | null {
  const count = typeof body === 'object' && body !== null && 'problemCount' in body ? body.problemCount : null
  return typeof count === 'number' ? count : null
}

const isText = (value: unknown): value is string => typeof value === 'string'

export const isApiError = (error: unknown, ...statuses: number[]): error is ApiError =>
  error instanceof ApiError && (statuses.length === 0 || statuses.includes(error.status))

/** Whether the platform may have made a change although its request failed: the answer got lost, or the platform had an error. */
export const mayBeDone = (error: unknown): boolean =>
  isApiError(error) && (error.status === noAnswer || error.status >= 500)
