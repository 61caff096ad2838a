/**
 * How the master key protects the key pairs of tokens. Both keys of a pair are encrypted and bound to the id of their row. We accept a
 * public key only if the master key can decrypt it or its private key. Otherwise, anybody who can write to the database could add a key
 * and sign tokens with it. A key that passes this check is called proven.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { createSealer } from '../sealing.ts'
import type { TokenKeyRow } from './token-keys-store.ts'

export type TokenKeySealing = {
  /** @returns both keys in DER form, encrypted with the first master key */
  seal(keyId: string, publicKey: Buffer, privateKey: Buffer): { sealedPublicKey: Buffer; sealedPrivateKey: Buffer }
  /**
   * The public key in DER form, from the encrypted public key of the row. If that is missing or cannot be decrypted, the
   * public key is derived from the private key. Earlier versions of the program leave such rows: they store no encrypted
   * public key, and when the master key changes they encrypt only the private key again.
   *
   * @throws UnprovenKey when the row has neither key encrypted; SealingError when none of the master keys can decrypt either
   *   key; Error when the keys belong to another row
   */
  publicKeyOf(row: TokenKeyRow): Buffer
  /** The private key in DER form; null when it was deleted. @throws as `publicKeyOf` */
  privateKeyOf(row: TokenKeyRow): Buffer | null
  /**
   * Encrypts both keys again with the first master key. A deleted private key stays null.
   * @throws as `publicKeyOf` and `privateKeyOf`
   */
  reseal(row: TokenKeyRow): Pick<TokenKeyRow, 'sealedPublicKey' | 'sealedPrivateKey'>
  /** Whether the row has an encrypted public key that can be decrypted. */
  hasPublicKey(row: TokenKeyRow): boolean
  /** Whether the first master key has encrypted both keys, and the public key can be decrypted. */
  isCurrent(row: TokenKeyRow): boolean
}

export function createTokenKeySealing(masterKeys: readonly Buffer[]): TokenKeySealing {
  const publicKeys = createSealer(masterKeys, 'token-public-keys')
  const privateKeys = createSealer(masterKeys, 'token-keys')

  const privateKeyOf = ({ keyId, sealedPrivateKey }: TokenKeyRow): Buffer | null =>
    sealedPrivateKey && privateKeys.open(sealedPrivateKey, Buffer.from(keyId))

  const publicKeyOf = (row: TokenKeyRow): Buffer => {
    try {
      if (row.sealedPublicKey) return publicKeys.open(row.sealedPublicKey, Buffer.from(row.keyId))
    } catch (error) {
      if (!row.sealedPrivateKey) throw error
    }
    const privateKey = privateKeyOf(row)
    if (!privateKey) throw new UnprovenKey()
    const key = createPrivateKey({ key: privateKey, type: 'pkcs8', format: 'der' })
    return createPublicKey(key).export({ type: 'spki', format: 'der' })
  }

  const hasPublicKey = ({ keyId, sealedPublicKey }: TokenKeyRow): boolean => {
    try {
      return sealedPublicKey !== null && publicKeys.open(sealedPublicKey, Buffer.from(keyId)).length > 0
    } catch {
      return false
    }
  }

  return {
    publicKeyOf,
    privateKeyOf,
    hasPublicKey,
    seal: (keyId, publicKey, privateKey) => ({
      sealedPublicKey: publicKeys.seal(publicKey, Buffer.from(keyId)),
      sealedPrivateKey: privateKeys.seal(privateKey, Buffer.from(keyId)),
    }),
    reseal(row) {
      const data = Buffer.from(row.keyId)
      const privateKey = privateKeyOf(row)
      return {
        sealedPublicKey: publicKeys.seal(publicKeyOf(row), data),
        sealedPrivateKey: privateKey && privateKeys.seal(privateKey, data),
      }
    },
    isCurrent: row =>
      hasPublicKey(row) &&
      publicKeys.isCurrent(row.sealedPublicKey as Buffer) &&
      (row.sealedPrivateKey === null || privateKeys.isCurrent(row.sealedPrivateKey)),
  }
}

/** The row has neither an encrypted public key nor an encrypted private key. */
class UnprovenKey extends Error {
  override name = 'UnprovenKey'
  override message = 'Nothing proves that the platform has made this key'
}
