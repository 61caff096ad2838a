/**
 * Bearer tokens (contract/access.md, "Tokens"): signed with EdDSA (`token-keys.ts`), valid for at most
 * 7200 s of real time, bound to one account, role, credential and client secret.
 */
import { randomBytes } from 'node:crypto'
import { type Caller, userTypes } from '../caller.ts'
import { realMs } from '../clock.ts'
import { isRoleOf } from '../roles.ts'
import { audience, issuer, type TokenKeys, tokenLifetimeSeconds } from './token-keys.ts'

/** The maximum number of verified tokens in the cache. For a cached token, a request needs only a look-up in a map. */
const rememberedTokens = 20_000
/** A tolerance for clocks that have drifted since they were last compared (contract/reliability.md, "Clocks"). */
export const toleranceMs = 5_000
/** The cache finds a token by this many of its last characters. They are half of an EdDSA signature. */
const keyLength = 43

/** The content of a valid token. `id` identifies the token. For a person it is also the id of the session. */
export type ReadToken = {
  caller: Caller
  id: string
  /** The id of the client secret that the token was issued for; null for a person's token. */
  secretId: string | null
  expiresAt: Date
}

/**
 * The client secret or the person's session that a token belongs to. The session's id becomes the token's id. `minutes`
 * is the length of the session; the token lives no longer.
 */
type TokenOrigin = { secretId: string } | { sessionId: string; minutes: number }

export type Tokens = {
  /**
   * Issues a new token for this caller.
   *
   * @param origin the secret or session that the token belongs to and ends with; without it, the token ends only when
   *   it expires
   * @returns the token, and when it expires
   * @throws DomainError 'unavailable' while no signing key is known
   */
  issue(caller: Caller, origin?: TokenOrigin): { token: string; expiresAt: Date }
  /** The content of a valid token, or null for any other text. Does not check whether it was revoked. */
  read(token: string): ReadToken | null
}

type Claims = {
  iss: string
  aud: string
  sub: string
  iat: number
  exp: number
  jti: string
  accountType: string
  accountId: string | null
  role: string
  userType: string
  /** The id of the client secret, see `secretIdOf`. */
  sec?: string
}

/**
 * Issues and reads tokens.
 *
 * @param keys the keys that sign and verify tokens
 * @param nowMs real time; an argument so that expiry can be tested
 */
export function createTokens(keys: TokenKeys, nowMs: () => number = realMs): Tokens {
  // The key is the end of the token (`keyLength`). It is shorter than the token and differs between tokens.
  const remembered = new Map<string, { token: string; known: ReadToken }>()
  let sequence = 0
  const instance = randomBytes(9).toString('base64url')

  const read = (token: string): ReadToken | null => {
    const key = token.slice(-keyLength)
    let entry = remembered.get(key)
    if (entry?.token !== token) {
      const known = verifyToken(keys, token, nowMs())
      if (!known) return null
      entry = { token, known }
      if (remembered.size >= rememberedTokens) remembered.delete(remembered.keys().next().value ?? '')
      remembered.set(key, entry)
    }
    if (entry.known.expiresAt.getTime() + toleranceMs > nowMs()) return entry.known
    remembered.delete(key)
    return null
  }

  return {
    issue(caller, origin) {
      sequence += 1
      const claims = claimsOf(caller, { origin, tokenId: `${instance}${sequence.toString(36)}`, nowMs: nowMs() })
      return { token: keys.signer(nowMs())(claims), expiresAt: expiryOf(claims) }
    },

    read,
  }
}

/** Reads and checks a token. @returns null for a token that we did not issue, or that is not valid at this time */
function verifyToken(keys: TokenKeys, token: string, nowMs: number): ReadToken | null {
  const header = headerOf(token)
  const verify = header && keys.verifier(header.algorithm, header.keyId, nowMs)
  if (!verify) return null
  try {
    const claims = verify(token) as Claims
    if (!timesHold(claims, nowMs)) return null
    const caller = callerOfClaims(claims)
    const secretId = claims.sec === undefined ? null : String(claims.sec)
    return caller && { caller, id: String(claims.jti), secretId, expiresAt: expiryOf(claims) }
  } catch {
    // Any error means that the token is not valid. The caller does not learn which error it was.
    return null
  }
}

/**
 * Returns the claims of a new token.
 * @param params.tokenId is different in each call, so that two tokens of the same second are never the same
 */
function claimsOf(
  caller: Caller,
  { origin, tokenId, nowMs }: { origin: TokenOrigin | undefined; tokenId: string; nowMs: number },
): Claims {
  const iat = Math.floor(nowMs / 1000)
  const session = origin && 'sessionId' in origin ? origin : null
  return {
    iss: issuer,
    aud: audience,
    sub: caller.subject,
    iat,
    exp: iat + (session ? session.minutes * 60 : tokenLifetimeSeconds),
    jti: session?.sessionId ?? tokenId,
    accountType: caller.type,
    accountId: accountId(caller),
    role: caller.role,
    userType: caller.userType,
    ...(origin && 'secretId' in origin && { sec: origin.secretId }),
  }
}

const expiryOf = ({ exp }: Claims): Date => new Date(exp * 1000)

const accountId = (caller: Caller): string | null => {
  if (caller.type === 'bank') return caller.bankId
  return caller.type === 'retailer' ? caller.merchantId : null
}

/**
 * The algorithm of a token and the id of the key that signed it; null for anything that is not a well-formed token. Each part of the
 * token must be written exactly as our base64url encoder writes it, so no token has a second spelling. This is checked before any
 * cryptography.
 */
function headerOf(token: string): { algorithm: string; keyId: string } | null {
  if (token.length > 2048) return null
  const parts = token.split('.')
  if (parts.length !== 3) return null
  for (const part of parts) {
    if (Buffer.from(part, 'base64url').toString('base64url') !== part || part === '') return null
  }
  try {
    const header: unknown = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString())
    if (typeof header !== 'object' || header === null) return null
    const { alg, kid, typ, ...others } = header as Record<string, unknown>
    const plain = typeof alg === 'string' && typ === 'JWT' && Object.keys(others).length === 0
    return plain && typeof kid === 'string' ? { algorithm: alg, keyId: kid } : null
  } catch {
    return null
  }
}

const includes = <T extends string>(values: readonly T[], value: string): value is T =>
  (values as readonly string[]).includes(value)

const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''

/**
 * Whether we could have issued a token with these times: it is valid for no longer than our tokens are, and it was not
 * issued in the future (beyond the tolerance).
 */
function timesHold({ iat, exp }: Claims, nowMs: number): boolean {
  const whole = Number.isInteger(iat) && Number.isInteger(exp)
  return whole && exp > iat && exp - iat <= tokenLifetimeSeconds && iat * 1000 <= nowMs + toleranceMs
}

function callerOfClaims(claims: Claims): Caller | null {
  const { sub, role, userType, accountType, accountId } = claims
  // Check issuer and audience again, because the library also accepts a token without an issuer, and a token with a
  // list of audiences that contains ours.
  if (claims.iss !== issuer || claims.aud !== audience) return null
  if (!isName(sub) || !includes(userTypes, userType)) return null
  const identity = { userType, subject: sub }
  if (accountType === 'bank' && isName(accountId) && isRoleOf('bank', role))
    return { ...identity, type: 'bank', bankId: accountId, role }
  if (accountType === 'retailer' && isName(accountId) && isRoleOf('retailer', role))
    return { ...identity, type: 'retailer', merchantId: accountId, role }
  if (accountType === 'platform' && accountId === null && isRoleOf('platform', role))
    return { ...identity, type: 'platform', role }
  return null
}
