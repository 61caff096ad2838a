/**
 * Encryption at rest: AES-256-GCM under keys derived from the master keys, one for each purpose. The first master key
 * encrypts. Every master key decrypts, so that keys can be rotated without downtime.
 *
 * Layout: 4 bytes key id, 12 bytes nonce, 16 bytes tag, ciphertext. The additional data binds a ciphertext to its row:
 * in another row it cannot be decrypted.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomFillSync } from 'node:crypto'
import { deriveKeys } from './keys.ts'

/** None of the given keys can decrypt the data in the database. */
export class SealingError extends Error {
  override name = 'SealingError'
}

/** @param names what cannot be decrypted, e.g. `iccid-index` */
export const unknownMasterKey = (...names: string[]): SealingError =>
  new SealingError(
    `MASTER_KEY does not hold the key that the database was sealed with (${names.join(', ')}); add it after a comma`,
  )

export type Sealer = {
  seal(plain: Buffer, additionalData: Buffer): Buffer
  /**
   * Decrypts.
   * @throws SealingError when none of the keys has encrypted it; Error when the ciphertext was changed or belongs to
   *   another row
   */
  open(sealed: Buffer, additionalData: Buffer): Buffer
  /** Whether one of these keys made the ciphertext. */
  knows(sealed: Buffer): boolean
  /** Whether the current key, which is the first of the keys, made the ciphertext. */
  isCurrent(sealed: Buffer): boolean
}

/** @property idBytes the bytes of `id`; each ciphertext begins with them */
type SealingKey = { id: string; idBytes: Buffer; key: KeyObject }

/**
 * Creates the functions that encrypt and decrypt for one purpose.
 *
 * @param masterKeys 32 bytes each; the first encrypts
 * @param purpose what is encrypted, e.g. `profiles`
 * @param name what a SealingError names
 */
export function createSealer(masterKeys: readonly Buffer[], purpose: string, name = purpose): Sealer {
  // Key objects are created once. Creating them from bytes for each value would cost more than the encryption.
  const keys = deriveKeys(masterKeys, purpose).map(({ id, key }) => ({
    id,
    idBytes: Buffer.from(id, 'hex'),
    key: createSecretKey(key),
  }))
  const first = keys[0] as SealingKey
  return {
    seal: (plain, additionalData) => sealBytes(first, plain, additionalData),
    open: (sealed, additionalData) => openBytes(keys, { sealed, additionalData, name }),
    knows: sealed => keys.some(({ id }) => id === keyIdOf(sealed)),
    isCurrent: sealed => keyIdOf(sealed) === first.id,
  }
}

const keyIdOf = (sealed: Buffer): string => sealed.toString('hex', 0, 4)

const nonceBytes = 12
const nonces = Buffer.alloc(nonceBytes * 512)
let nextNonce = nonces.length

/** Returns a random nonce for one use. Making many nonces in one call is ten times faster than making each alone. */
function takeNonce(): Buffer {
  if (nextNonce === nonces.length) {
    randomFillSync(nonces)
    nextNonce = 0
  }
  nextNonce += nonceBytes
  return nonces.subarray(nextNonce - nonceBytes, nextNonce)
}

function sealBytes({ idBytes, key }: SealingKey, plain: Buffer, additionalData: Buffer): Buffer {
  const nonce = takeNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(additionalData)
  const encrypted = [cipher.update(plain), cipher.final()]
  return Buffer.concat([idBytes, nonce, cipher.getAuthTag(), ...encrypted])
}

type Sealed = { sealed: Buffer; additionalData: Buffer; name: string }

function openBytes(keys: readonly SealingKey[], { sealed, additionalData, name }: Sealed): Buffer {
  const id = keyIdOf(sealed)
  const key = keys.find(candidate => candidate.id === id)
  if (!key) throw unknownMasterKey(name)
  const decipher = createDecipheriv('aes-256-gcm', key.key, sealed.subarray(4, 16), { authTagLength: 16 }).setAAD(
    additionalData,
  )
  decipher.setAuthTag(sealed.subarray(16, 32))
  return Buffer.concat([decipher.update(sealed.subarray(32)), decipher.final()])
}
