/** Client secrets (random, 256 bits, kept as a hash) and passwords (chosen by people, argon2id). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

export const makeSecret = (): string => randomBytes(32).toString('base64url')

/** Makes a random clientId, which reveals nothing about its owner. */
export const makeClientId = (): string => `pk_${randomBytes(12).toString('hex')}`

/**
 * Hashes a client secret. A fast hash such as SHA-256 is enough, because nobody can guess one of 2^256 possible
 * secrets.
 */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/**
 * The id of a client secret, which does not reveal the secret. Each token contains the id of the secret that it was
 * issued for.
 */
export const secretIdOf = (secretHash: Buffer): string =>
  createHash('sha256').update(secretHash).digest('base64url').slice(0, 16)

/**
 * A short fingerprint of a secret, also of an endpoint's. The audit log contains the fingerprint instead of the secret
 * (contract/audit-log.md, "Entries").
 *
 * @param secretHash the hash of the secret as its owner gets it, from `hashSecret`
 */
export const fingerprintOf = (secretHash: Buffer): string => secretHash.toString('hex').slice(0, 8)

/**
 * Compares a secret with a stored hash in constant time.
 * @param expected null for an unknown credential: the result is then false, but takes the same time
 */
export function secretMatches(secret: string, expected: Buffer | null): boolean {
  const equal = timingSafeEqual(hashSecret(secret), expected ?? Buffer.alloc(32))
  return equal && expected !== null
}

/** Converts a password to its normal form (NFKC), so that all ways to type it give the same text. */
export const plainPassword = (password: string): string => password.normalize('NFKC')

export const hashPassword = (password: string): Promise<string> => hash(plainPassword(password))

let nobody: Promise<string> | undefined

/**
 * Whether a password matches a stored hash. An unknown login takes as long as a known one, because its password is
 * compared with a dummy hash. Passwords set before version 0.3 were hashed as typed, so that form is tried as well if
 * it differs.
 */
export async function passwordMatches(password: string, expected: string | null): Promise<boolean> {
  nobody ??= hash(randomBytes(16).toString('hex'))
  const known = expected ?? (await nobody)
  let matches = false
  for (const form of new Set([plainPassword(password), password])) matches = (await verify(known, form)) || matches
  return matches && expected !== null
}
