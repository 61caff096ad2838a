/**
 * Slows down guessing (contract/access.md, "Wrong secrets and passwords"). An address has to wait after 10 failures within a minute for
 * one clientId or login, or after 50 failures in total. A client at another address does not wait. The waits that grow with each wrong
 * password for a login are in `login-store.ts`. Also limits how often a person logs in.
 */
import { createHash } from 'node:crypto'
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { DomainError } from '../errors.ts'
import { addressUnit } from '../text/addresses.ts'
import { countIn, retryAfter } from '../work/counting.ts'
import { createLocalCounter } from '../work/local-counter.ts'

const windowSeconds = 60
const failuresOfName = 10
const failuresOfAddress = 50

export type Throttle = {
  /** @throws DomainError 'too-many' when this address has failed too often */
  check(address: string, name: string): Promise<void>
  /**
   * Counts a failure.
   *
   * @throws DomainError 'too-many' when simultaneous attempts from this address have exceeded the limit. The client then gets
   *   this error instead of the one for a wrong secret or password
   */
  fail(address: string, name: string): Promise<void>
}

/** @param create makes a counter, either shared by all processes or only for this process */
export function createThrottle(create: typeof createLocalCounter = createLocalCounter): Throttle {
  const byName = create('name', failuresOfName, windowSeconds)
  const byAddress = create('address', failuresOfAddress, windowSeconds)
  // Store only a hash of the name. The caller's text may have any length, and may be a secret that was typed into the wrong
  // field.
  const nameKey = (address: string, name: string) =>
    `${address}|${createHash('sha256').update(name).digest('base64url').slice(0, 22)}`

  const limits = [failuresOfName, failuresOfAddress]
  /**
   * Returns how long to wait until all counts allow an attempt. With `atLimit`, a count forbids attempts as soon as it
   * has reached its limit; otherwise, only when it is above its limit.
   */
  const waitFor = (counts: (RateLimiterRes | null)[], atLimit: boolean): number => {
    const waits = counts.map((count, index) => {
      const over = (count?.consumedPoints ?? 0) - (limits[index] ?? 0)
      return count !== null && (atLimit ? over >= 0 : over > 0) ? count.msBeforeNext : 0
    })
    return Math.max(...waits)
  }

  return {
    async check(input, name) {
      const address = addressUnit(input)
      const counts = await Promise.all([byName.get(nameKey(address, name)), byAddress.get(address)])
      const waitMs = waitFor(counts, true)
      if (waitMs > 0) refuseFor(waitMs)
    },
    async fail(input, name) {
      const address = addressUnit(input)
      const counts = await Promise.all([byName.penalty(nameKey(address, name), 1), byAddress.penalty(address, 1)])
      const waitMs = waitFor(counts, false)
      if (waitMs > 0) refuseFor(waitMs)
    },
  }
}

/**
 * Counts the errors of an address.
 * @throws DomainError 'too-many' beyond 50 within a minute
 */
export type AddressLimit = (address: string) => Promise<void>

/** @param create makes a counter that allows `points` events in `seconds` */
export function createAddressLimit(create: (points: number, seconds: number) => RateLimiterAbstract): AddressLimit {
  const counter = create(failuresOfAddress, windowSeconds)
  return async address => {
    const { consumedPoints, msBeforeNext } = await counter.penalty(addressUnit(address), 1)
    if (consumedPoints > failuresOfAddress) refuseFor(msBeforeNext)
  }
}

function refuseFor(waitMs: number): never {
  const text = 'Too many failed attempts from your address; wait a moment'
  throw new DomainError('too-many', text, retryAfter(waitMs / 1000))
}

const fromOneAddress = { allowed: 10, seconds: 15 * 60 }
/**
 * How many wrong codes for one person are allowed from all addresses together. With so few guesses a day, an attacker
 * with many addresses needs years to find a code of six digits.
 */
const fromAnywhere = { allowed: 100, seconds: 24 * 3_600 }

/**
 * Slows down guesses of a second factor. After 10 wrong codes for a person from one address within 15 min, that address cannot
 * send codes for that person for 15 min. After 100 from all addresses within a day, only addresses where the person has recently
 * logged in may send codes.
 */
export type WrongCodes = {
  /**
   * Carries out an attempt. It is counted as wrong before it starts. If the code is right, the count is reduced again.
   * In this way, simultaneous attempts get no more guesses than successive ones.
   *
   * @param attempt returns null or false for a wrong code
   * @throws DomainError 'too-many' after too many wrong codes. It also throws the errors of `attempt`; they do not
   *   count as wrong codes
   */
  guard<Result>(address: string, userId: string, attempt: () => Promise<Result>): Promise<Result>
}

type CreateCounter = (name: 'address' | 'person', points: number, seconds: number) => RateLimiterAbstract

/**
 * @param create makes a counter that all processes share
 * @param isKnown whether the person has recently logged in from this address (as `addressUnit` returns it). Wrong codes from other
 *   addresses do not block a known address
 */
export function createWrongCodes(
  create: CreateCounter,
  isKnown: (userId: string, address: string) => Promise<boolean>,
): WrongCodes {
  const byAddress = create('address', fromOneAddress.allowed, fromOneAddress.seconds)
  const byPerson = create('person', fromAnywhere.allowed, fromAnywhere.seconds)

  /**
   * Counts an attempt. An attempt that is refused because of wrong codes from other addresses is not counted.
   *
   * @returns how many attempts this address has made for this person
   * @throws DomainError 'too-many' after too many wrong codes, by the rules of `WrongCodes`
   */
  const begin = async (address: string, userId: string): Promise<number> => {
    const ofAddress = await byAddress.penalty(`${address}|${userId}`, 1)
    if (ofAddress.consumedPoints > fromOneAddress.allowed) refuseCodes(ofAddress.msBeforeNext)
    const ofPerson = await byPerson.penalty(userId, 1)
    if (ofPerson.consumedPoints <= fromAnywhere.allowed) return ofAddress.consumedPoints
    let mayTry = false
    try {
      mayTry = await isKnown(userId, address)
    } finally {
      if (!mayTry) await takeBack(address, userId)
    }
    if (!mayTry) refuseCodes(ofPerson.msBeforeNext)
    return ofAddress.consumedPoints
  }

  const takeBack = (address: string, userId: string) =>
    Promise.all([byAddress.reward(`${address}|${userId}`, 1), byPerson.reward(userId, 1)])

  return {
    async guard(input, userId, attempt) {
      const address = addressUnit(input)
      const key = `${address}|${userId}`
      const count = await begin(address, userId)
      let isWrong = false
      try {
        const result = await attempt()
        isWrong = result === null || result === false
        return result
      } finally {
        if (!isWrong) await takeBack(address, userId)
        // The last allowed code was wrong. The wait begins now, not at the first wrong code.
        else if (count === fromOneAddress.allowed) await byAddress.block(key, fromOneAddress.seconds)
      }
    },
  }
}

function refuseCodes(waitMs: number): never {
  throw new DomainError('too-many', 'Too many wrong codes; wait some minutes', retryAfter(waitMs / 1000))
}

const loginsPerHour = 600

/**
 * Limits how often a person logs in, because each login stores a session and an entry in the audit log. Only logins with the right
 * password and code count, so nobody else can use up the person's limit.
 */
export type LoginLimit = {
  /**
   * Counts a login before it starts. If it does not succeed, the count is reduced again.
   *
   * @param logIn returns null when the login does not succeed
   * @throws DomainError 'too-many' beyond 600 within an hour. It also throws the errors of `logIn`
   */
  guard<Result>(userId: string, logIn: () => Promise<Result | null>): Promise<Result | null>
}

/** @param create makes a counter that all processes share */
export function createLoginLimit(create: (points: number, seconds: number) => RateLimiterAbstract): LoginLimit {
  const counter = create(loginsPerHour, 3_600)
  return {
    async guard(userId, logIn) {
      await countIn(counter, userId, 'You have logged in too often; wait a while')
      let isIn = false
      try {
        const result = await logIn()
        isIn = result !== null
        return result
      } finally {
        if (!isIn) await counter.reward(userId, 1)
      }
    },
  }
}

const conflictsWithin = { seconds: 3_600, ofLink: 10, ofAccount: 30 }

/**
 * Limits how many taken logins somebody can find out with the links of invitations: accepting a link with a taken login
 * returns a conflict. After 10 conflicts of a link within an hour, the link cannot be used until the hour is over. After 30
 * conflicts of all links of an account, none of its links can be used, because managers can create any number of links.
 */
export type LinkConflicts = {
  /**
   * Carries out an attempt to use a link. It is counted before it starts. If it ends without a conflict or is refused,
   * the count is reduced again. In this way, simultaneous attempts learn no more than successive ones.
   *
   * @param link the id of the invitation, and of the account that invites
   * @throws DomainError 'too-many' after too many conflicts. It also throws the errors of `attempt`
   */
  guard<Result>(link: { invitationId: string; accountId: string }, attempt: () => Promise<Result>): Promise<Result>
}

/** @param create makes a counter that all processes share */
export function createLinkConflicts(create: (points: number, seconds: number) => RateLimiterAbstract): LinkConflicts {
  const counter = create(conflictsWithin.ofAccount, conflictsWithin.seconds)
  return {
    async guard({ invitationId, accountId }, attempt) {
      const counted: string[] = []
      let isConflict = false
      try {
        for (const [key, allowed] of [
          [invitationId, conflictsWithin.ofLink],
          [accountId, conflictsWithin.ofAccount],
        ] as const) {
          counted.push(key)
          await countIn(counter, key, 'Too many taken logins were sent with this link; wait a while', allowed)
        }
        return await attempt()
      } catch (error) {
        isConflict = error instanceof DomainError && error.code === 'conflict'
        throw error
      } finally {
        if (!isConflict) for (const key of counted) await counter.reward(key, 1)
      }
    },
  }
}
