/** How the settings MASTER_KEY and OPERATOR_KEY are written. */

/** Returns the keys of a setting. The setting may have several keys, separated by commas. */
export const splitKeys = (value: string | null): string[] => value?.split(',').map(key => key.trim()) ?? []

const minOperatorKeyLength = 32
export const operatorKeyError =
  `OPERATOR_KEY must have at least ${minOperatorKeyLength} characters, of those that a header can carry (ASCII); several keys with ` +
  'commas, each of that length'
/** Whether a text can be an operator key. The key is sent in a header, so only printable ASCII is allowed. */
export const isOperatorKey = (key: string): boolean => key.length >= minOperatorKeyLength && /^[\x20-\x7e]+$/.test(key)

/** Reads master keys from their setting, and adds what is wrong with them to `errors`. */
export function readMasterKeys(value: string | null, errors: string[]): Buffer[] {
  if (value === null) return []
  return value.split(',').map((part, index) => {
    const key = Buffer.from(part.trim(), 'base64')
    // Node's decoder skips invalid base64, so a key with a typing error would silently become another key.
    const isExact = withoutPadding(key.toString('base64')) === withoutPadding(part.trim())
    if (key.length !== 32 || !isExact)
      errors.push(`MASTER_KEY must be base64 of 32 bytes; its ${ordinal(index)} key is not`)
    return key
  })
}

const withoutPadding = (base64: string): string => base64.replace(/=+$/, '')

const ordinal = (index: number): string => ['first', 'second', 'third'][index] ?? `${index + 1}th`
