/** One-time codes of authenticator apps (RFC 6238). All apps support SHA-1, six digits and 30 s. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

const periodSeconds = 30
const secretBytes = 20
/** How many time steps before and after the current one are accepted, because clocks of phones may be off. */
const tolerance = 1

export const makeTotpSecret = (): Buffer => randomBytes(secretBytes)

/** The secret as people type it into an app: base32 without padding. */
export const secretText = (secret: Buffer): string => secretOf(secret).base32

/** The address in the QR code for an authenticator app. @param label the account's name as the app shows it */
export const totpUri = (secret: Buffer, label: string): string =>
  new TOTP({ issuer: 'Perkline', label, secret: secretOf(secret), period: periodSeconds }).toString()

/** Whether a typed code is one of an app, and not a recovery code. Apps show it with a space in the middle. */
export const isTotpCode = (code: string): boolean => /^\d{6}$/.test(withoutSpaces(code))

const withoutSpaces = (code: string): string => code.replaceAll(/\s/g, '')

/**
 * The time step that a code belongs to.
 *
 * @param code as typed; spaces do not matter
 * @param nowMs real time
 * @returns the step, at most one away from the current one; null when the code fits none
 */
export function stepOf(secret: Buffer, code: string, nowMs: number): number | null {
  if (!isTotpCode(code)) return null
  const digits = Buffer.from(withoutSpaces(code))
  const now = Math.floor(nowMs / 1000 / periodSeconds)
  const key = secretOf(secret)
  let found: number | null = null
  // Compare the code with all steps, even after a match. Otherwise the time taken would show which step matched.
  for (let step = now - tolerance; step <= now + tolerance; step++) {
    const expected = TOTP.generate({ secret: key, period: periodSeconds, timestamp: step * periodSeconds * 1000 })
    if (timingSafeEqual(Buffer.from(expected), digits)) found = step
  }
  return found
}

const secretOf = (secret: Buffer): Secret =>
  new Secret({ buffer: secret.buffer.slice(secret.byteOffset, secret.byteOffset + secret.length) as ArrayBuffer })
