/** An answer of the platform that is no success, in a form that pages and forms can show. */
import type { FileProblem } from './file-problems.ts'

/** One entry of a 400: `terminals.0.terminal_id must be given`. */
export type Fault = { field: string; requirement: string }

/** There is no answer at all: the network or the platform is away. */
export const noAnswer = 0

export class ApiError extends Error {
  /** HTTP status, or `noAnswer`. */
  readonly status: number
  /** What is wrong, as the platform words it. */
  readonly messages: string[]
  /** Those of the messages that name a field. */
  readonly faults: Fault[]
  /** What the platform calls this error; null where it does not say. */
  readonly code: string | null
  /** The broken rules of an uploaded file, or of the request. */
  readonly problems: readonly FileProblem[]
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null

  constructor(
    status: number,
    messages: string[],
    headers: { get(name: string): string | null } | null,
    { problems = [], code = null }: { problems?: readonly FileProblem[]; code?: string | null } = {},
  ) {
    super(messages.join('; ') || `The platform answers ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.messages = messages
    this.problems = problems
    this.code = code
    this.faults = messages.map(readFault).filter(fault => fault !== null)
    this.requestId = headers?.get('x-request-id') ?? null
    this.retryAfterSeconds = Number(headers?.get('retry-after') ?? Number.NaN) || null
  }

  /** The same answer with some of its messages only: those that are shown nowhere else. */
  withMessages(messages: string[]): ApiError {
    const get = (name: string) =>
      name === 'x-request-id' ? this.requestId : (this.retryAfterSeconds?.toString() ?? null)
    return new ApiError(this.status, messages, { get }, { problems: this.problems, code: this.code })
  }
}

/** `<field> must be <requirement>`, as the contract words faults of form; null for any other message. */
export function readFault(message: string): Fault | null {
  const [, field, requirement] = /^([\p{L}\p{N}_.[\]-]+) must (?:be )?(.+)$/su.exec(message) ?? []
  return field && requirement ? { field, requirement } : null
}

/** @param body an error body of either API: `{message}` with one text or several */
export function apiError(status: number, body: unknown, headers: { get(name: string): string | null }): ApiError {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  return new ApiError(status, [message].flat().filter(isText), headers, {
    problems: problemsOf(body),
    code: codeOf(body, headers),
  })
}

/** In the body, or in a header where the contract fixes the body. */
function codeOf(body: unknown, headers: { get(name: string): string | null }): string | null {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
  return isText(code) ? code : headers.get('perkline-error-code')
}

function problemsOf(body: unknown): FileProblem[] {
  const problems = typeof body === 'object' && body !== null && 'problems' in body ? body.problems : undefined
  return Array.isArray(problems) ? problems : []
}

const isText = (value: unknown): value is string => typeof value === 'string'

export const isApiError = (error: unknown, ...statuses: number[]): error is ApiError =>
  error instanceof ApiError && (statuses.length === 0 || statuses.includes(error.status))
