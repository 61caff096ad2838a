/** Client secrets (random, 256 bits, kept as a hash) and passwords (chosen by people, argon2id). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

export const makeSecret = (): string => randomBytes(32).toString('base64url')

/** A clientId tells nothing about whose it is. */
export const makeClientId = (): string => `pk_${randomBytes(12).toString('hex')}`

/** SHA-256 suffices: there are 2^256 secrets, so none can be guessed, fast or slow. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** Names a client secret without telling anything of it: what a token says of the secret that it was issued for. */
export const secretIdOf = (secretHash: Buffer): string =>
  createHash('sha256').update(secretHash).digest('base64url').slice(0, 16)

/** In constant time; an unknown credential is compared all the same, with `null`. */
export function secretMatches(secret: string, expected: Buffer | null): boolean {
  const equal = timingSafeEqual(hashSecret(secret), expected ?? Buffer.alloc(32))
  return equal && expected !== null
}

/** In the one form that all ways to type it have in common (NFKC). */
export const plainPassword = (password: string): string => password.normalize('NFKC')

export const hashPassword = (password: string): Promise<string> => hash(plainPassword(password))

let nobody: Promise<string> | undefined

/**
 * An unknown login takes the time of a known one: its password is compared with nobody's. What was set before version 0.3 was hashed
 * as it was typed, so that is tried, too, where it differs.
 */
export async function passwordMatches(password: string, expected: string | null): Promise<boolean> {
  nobody ??= hash(randomBytes(16).toString('hex'))
  const known = expected ?? (await nobody)
  let matches = false
  for (const form of new Set([plainPassword(password), password])) matches = (await verify(known, form)) || matches
  return matches && expected !== null
}
