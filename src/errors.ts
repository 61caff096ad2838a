/**
 * The one error that rules throw. Its code is from a closed list; `http/errors.ts` alone knows which status code and which
 * body it becomes, so an operation never has to know how it was called.
 */
export const errorCodes = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'not-found',
  'conflict',
  'stale',
  'too-many',
  'unavailable',
] as const

export type ErrorCode = (typeof errorCodes)[number]

export class DomainError extends Error {
  readonly code: ErrorCode
  /** One text for a fault of the whole request, or one entry per faulty field, each beginning with the field's name. */
  readonly details: string | string[]
  /** Seconds after which the caller may try again (`Retry-After`); set on `too-many` and `unavailable`. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ErrorCode,
    details: string | string[],
    options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(Array.isArray(details) ? details.join('; ') : details, { cause: options.cause })
    this.name = 'DomainError'
    this.code = code
    this.details = details
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
