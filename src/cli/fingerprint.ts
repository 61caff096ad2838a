/** The command `perkline keys fingerprint`. */
import { createHash } from 'node:crypto'
import { processEnvironment } from '../config.ts'
import { deriveKeys } from '../keys.ts'
import { readMasterKeysOnly } from './command-settings.ts'
import { type OutputOptions, print } from './output.ts'

/**
 * `perkline keys fingerprint`: prints 8 digits for each master key. The operator writes them on the envelope that holds
 * the key. The digits come from a key derived for this purpose only, so they reveal nothing about the master key.
 */
export function showFingerprint(options: OutputOptions): void {
  const fingerprints = deriveKeys(readMasterKeysOnly(processEnvironment()), 'fingerprint').map(({ key }) =>
    digitsOf(key),
  )
  const [fingerprint, ...further] = fingerprints
  print(options, { fingerprint, further }, fingerprints)
}

function digitsOf(key: Buffer): string {
  const number = createHash('sha256').update(key).digest().readBigUInt64BE()
  return String(number % 100_000_000n).padStart(8, '0')
}
