/**
 * Examples of errors that `npm run examples` does not cause and so cannot record. The texts are those of the real
 * answers.
 */
import { StaleError } from '../../errors.ts'

/** `facts` are the fields of the body besides the usual ones of an error, such as `oldestSequence`. */
export type ErrorExample = [code: string, message: string | string[], facts?: Record<string, unknown>]

const stale = (subject: string): ErrorExample => ['stale', new StaleError(subject).message]

/** Texts by status, for operations without a recorded text and without one in `ownErrors`. */
export const sharedErrors: Record<number, ErrorExample> = {
  400: ['invalid', ['foo must be omitted']],
  401: ['unauthenticated', 'The bearer token is not valid or has expired'],
  403: ['forbidden', 'Your role does not allow this operation'],
  404: ['not-found', 'There is nothing at this path'],
  408: ['invalid', 'The body took too long'],
  409: ['request-in-progress', 'A request with this Idempotency-Key is still running'],
  412: stale('campaign'),
  415: ['wrong-type', 'The body must be application/json'],
  422: ['key-reused', 'The Idempotency-Key was used for another request'],
  429: ['too-many', 'Too many requests: wait for Retry-After seconds'],
  500: [
    'internal',
    'Something went wrong on our side; please tell us the request id 0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63',
  ],
  503: ['unavailable', 'The database is temporarily unavailable; try again'],
}

const conflict = (message: string | string[]): Record<number, ErrorExample> => ({ 409: ['conflict', message] })
const limitReached = (message: string): Record<number, ErrorExample> => ({ 409: ['limit-reached', message] })

const oldest = { oldestSequence: 1201 }
const eventsRemoved: ErrorExample = ['events-removed', 'Events before 1201 are over their retention', oldest]
const pausedTooLong: ErrorExample = [
  'events-removed',
  'Events since it was disabled are over their retention: resume with now',
  oldest,
]
const feedRestarted: ErrorExample = [
  'feed-restarted',
  'This feed has begun anew: read all objects again, then follow the new feed',
  { feedId: '7c0e3f52-8d1b-4c7e-9a40-5d2c8e1f7b63', lastSequence: 17 },
]

const ownRole = 'Nobody changes the own role'
const ownFactors = 'Nobody resets oneself'
const lastManager = 'This is the last active manager of the account'
const disabledEndpoint = 'The endpoint is disabled: enable it first'
const disabledOrDeleted = 'The endpoint is disabled or deleted'
const loginTaken = ['login must be free; olena is taken already']

/** Texts for the errors of single operations, by operation id and status. */
export const ownErrors: Record<string, Record<number, ErrorExample>> = {
  readEvents: { 409: feedRestarted, 410: eventsRemoved },
  createEndpoint: { ...limitReached('An account has at most 10 endpoints'), 410: eventsRemoved },
  changeEndpoint: { 412: stale('endpoint') },
  enableEndpoint: {
    ...conflict('The operator has disabled this endpoint, and only the operator enables it'),
    410: pausedTooLong,
  },
  replayEvents: conflict(disabledEndpoint),
  retryDelivery: conflict(disabledOrDeleted),
  skipDelivery: conflict('The delivery is delivered'),
  acceptLink: conflict(loginTaken),
  changePerson: conflict(ownRole),
  resetPassword: conflict(ownFactors),
  resetFactors: conflict(ownFactors),
  invitePerson: conflict(loginTaken),
  setSecurityPolicy: { 412: stale('policy') },
  issueOwnCredential: limitReached('An account has at most 1000 live credentials'),
  changePassword: conflict('The password was changed at this moment'),
  beginTotp: conflict('An authenticator app is set up already; remove it first'),
  confirmTotp: conflict('No authenticator app waits for its first code'),
  renewRecoveryCodes: conflict('Recovery codes belong to an authenticator app; set one up first'),
  applyDirectory: conflict(['banks[0].code (line 1): must be new; bank alpha exists']),
  disableUser: conflict(lastManager),
  eraseUser: conflict('Only a disabled person can be erased; disable them first'),
  runAudit: conflict('An audit is already running: wait until it ends'),
  enableAnyEndpoint: { 410: pausedTooLong },
  replayAnyEvents: conflict(disabledEndpoint),
}
