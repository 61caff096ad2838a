/**
 * Keys derived from MASTER_KEY, one for each purpose, so that no two purposes share a key. New data uses the first
 * master key. Data made with another of the master keys can still be read (rotation without downtime).
 */
import { createHash, hkdfSync } from 'node:crypto'

export type DerivedKey = {
  /** 8 hexadecimal digits that identify the key without revealing anything about it. */
  id: string
  key: Buffer
}

/**
 * Derives a key for one purpose from each master key, in the same order.
 *
 * @param masterKeys at least one, 32 bytes each; the first is used for new data
 * @param purpose what the key is for, e.g. `tokens`
 */
export function deriveKeys(masterKeys: readonly Buffer[], purpose: string): [DerivedKey, ...DerivedKey[]] {
  const [first, ...others] = masterKeys.map(master => {
    const key = Buffer.from(hkdfSync('sha256', master, 'perkline', purpose, 32))
    return { id: createHash('sha256').update(key).digest('hex').slice(0, 8), key }
  })
  if (!first) throw new Error('At least one master key is needed')
  return [first, ...others]
}
