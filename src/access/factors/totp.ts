/** One-time codes of authenticator apps (RFC 6238): SHA-1, six digits, 30 s, which is what all of them know. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

const periodSeconds = 30
const secretBytes = 20
/** Clocks of phones may be a step off. */
const tolerance = 1

export const makeTotpSecret = (): Buffer => randomBytes(secretBytes)

/** The secret as people type it: base32 without padding. */
export const secretText = (secret: Buffer): string => secretOf(secret).base32

/** What an app reads from the QR code. @param label whose account it is, as the app shows it */
export const totpUri = (secret: Buffer, label: string): string =>
  new TOTP({ issuer: 'Perkline', label, secret: secretOf(secret), period: periodSeconds }).toString()

/**
 * The time step of a code.
 *
 * @param nowMs real time
 * @returns the step, at most one from the present one, or null when the code is none of these
 */
export function stepOf(secret: Buffer, code: string, nowMs: number): number | null {
  if (!/^\d{6}$/.test(code)) return null
  const now = Math.floor(nowMs / 1000 / periodSeconds)
  const key = secretOf(secret)
  let found: number | null = null
  // All of them are compared: the time tells nothing.
  for (let step = now - tolerance; step <= now + tolerance; step++) {
    const expected = TOTP.generate({ secret: key, period: periodSeconds, timestamp: step * periodSeconds * 1000 })
    if (timingSafeEqual(Buffer.from(expected), Buffer.from(code))) found = step
  }
  return found
}

const secretOf = (secret: Buffer): Secret =>
  new Secret({ buffer: secret.buffer.slice(secret.byteOffset, secret.byteOffset + secret.length) as ArrayBuffer })
