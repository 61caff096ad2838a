/** The error of the domain, and the closed list of its codes. */
import { type BrokenRule, ruleMessage } from './error-rules.ts'

/**
 * The codes of `DomainError`, the one error that rules throw. `http/errors.ts` turns a code into a status code and a
 * body, so an operation does not have to know how it was called.
 *
 * The list is part of all APIs (contract/http.md, "Error codes"): clients read these codes. A code never changes its
 * meaning.
 */
export const errorCodes = [
  'invalid',
  'campaign-state',
  'no-bank-approved',
  'unauthenticated',
  'mfa-needed',
  'forbidden',
  'address-not-allowed',
  'not-found',
  'method-not-allowed',
  'conflict',
  'request-in-progress',
  'feed-restarted',
  'limit-reached',
  'external-id-mismatch',
  'order-expired',
  'order-cancelled',
  'order-confirmed',
  'order-not-confirmed',
  'events-removed',
  'stale',
  'too-large',
  'wrong-type',
  'key-reused',
  'too-many',
  'too-many-reservations',
  'internal',
  'unavailable',
  'no-stock',
  'off-sale',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/**
 * A rule that an uploaded file breaks, in a form for programs. `details` says the same in English. Clients translate
 * `rule`, whose meaning never changes, with its `params`.
 */
export type Problem = {
  /** The line of the file, from 1; null: the file as a whole. */
  line: number | null
  column: string | null
  rule: string
  params: Record<string, string | number>
  /** The value in the file, shortened and without control characters; null when there is no value to show. */
  value: string | null
}

export class DomainError extends Error {
  readonly code: ErrorCode
  /** One text for an error of the whole request, or one entry for each wrong field, beginning with the field's name. */
  readonly details: string | string[]
  /** Seconds after which the caller may try again (`Retry-After`); set when waiting helps. */
  readonly retryAfterSeconds: number | undefined
  /** The broken rules among the details, for programs. */
  readonly rules: readonly BrokenRule[]
  /** The first rules that an uploaded file breaks; undefined if the rules of this kind of file have no codes. */
  readonly problems: readonly Problem[] | undefined
  /** The total number of problems in the file; undefined: `problems` contains all of them. */
  readonly problemCount: number | undefined
  /** Data that a client program needs to continue. It becomes fields of the Partner API's error body. */
  readonly facts: Readonly<Record<string, string | number>> | undefined

  constructor(
    code: ErrorCode,
    input: string | readonly (string | BrokenRule)[],
    options: {
      retryAfterSeconds?: number
      problems?: readonly Problem[]
      problemCount?: number
      facts?: Readonly<Record<string, string | number>>
      cause?: unknown
    } = {},
  ) {
    const details = typeof input === 'string' ? input : input.map(detailText)
    super(Array.isArray(details) ? details.join('; ') : details, { cause: options.cause })
    this.name = 'DomainError'
    this.code = code
    this.details = details
    this.rules = typeof input === 'string' ? [] : input.filter(one => typeof one !== 'string')
    this.retryAfterSeconds = options.retryAfterSeconds
    this.problems = options.problems
    this.problemCount = options.problemCount
    this.facts = options.facts
  }
}

const detailText = (detail: string | BrokenRule): string => (typeof detail === 'string' ? detail : ruleMessage(detail))

/**
 * The request is based on another version than the present one, or its `If-Match` is not a quoted tag.
 *
 * @param subject what has versions, such as `campaign`
 */
export class StaleError extends DomainError {
  constructor(subject: string) {
    super(
      'stale',
      `The ${subject} has changed since it was read, or If-Match is not the quoted tag of a version: read it again`,
    )
  }
}

/** The caller sent a token that is not valid: it was altered, has expired, or lost its access. */
export class InvalidTokenError extends DomainError {
  constructor(details = 'The bearer token is not valid or has expired') {
    super('unauthenticated', details)
  }
}
