/**
 * Recovery codes for people who have lost their phone: ten codes of 50 random bits. We store a keyed hash, so that a
 * copy of the database alone does not allow guessing them.
 */
import { createHmac, randomBytes } from 'node:crypto'

const codesAtOnce = 10
const digits = 10
/** Crockford's alphabet. It has no i, l and o, because they look like 1 and 0. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export const makeRecoveryCodes = (): string[] => Array.from({ length: codesAtOnce }, makeCode)

function makeCode(): string {
  // 256 is a multiple of 32, so every letter is equally likely.
  const text = [...randomBytes(digits)].map(byte => alphabet[byte % alphabet.length]).join('')
  return `${text.slice(0, digits / 2)}-${text.slice(digits / 2)}`
}

/** The hash to store. @param code as typed: case, spaces and hyphens do not matter; o is read as 0, i and l as 1 */
export function hashRecoveryCode(key: Buffer, code: string): Buffer {
  const plain = code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1')
  return createHmac('sha256', key).update(plain).digest()
}
