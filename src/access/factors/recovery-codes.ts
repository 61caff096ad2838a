/** Recovery codes: ten of 50 random bits, for who has lost their phone. Kept as a keyed hash, so that a copy of the database is not enough to guess them. */
import { createHmac, randomBytes } from 'node:crypto'

const codesAtOnce = 10
const digits = 10
/** Crockford's: without letters that look like others. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export const makeRecoveryCodes = (): string[] => Array.from({ length: codesAtOnce }, makeCode)

function makeCode(): string {
  // 256 is a multiple of 32: every letter is as likely.
  const text = [...randomBytes(digits)].map(byte => alphabet[byte % alphabet.length]).join('')
  return `${text.slice(0, digits / 2)}-${text.slice(digits / 2)}`
}

/** How a code is kept. @param code as it was shown, or typed with other capitals, blanks and hyphens */
export function hashRecoveryCode(key: Buffer, code: string): Buffer {
  const plain = code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1')
  return createHmac('sha256', key).update(plain).digest()
}
