/**
 * How the master key protects the key pairs of tokens. Both halves are sealed and bound to the id of their row. A public key counts
 * only when it is proven this way: a key that somebody has just written into the database would let them sign tokens.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { createSealer } from '../sealing.ts'
import type { TokenKeyRow } from './token-keys-store.ts'

export type TokenKeySealing = {
  /** @returns both halves in DER form, sealed with the first master key */
  seal(keyId: string, publicKey: Buffer, privateKey: Buffer): { sealedPublicKey: Buffer; sealedPrivateKey: Buffer }
  /**
   * The public key in DER form. For a key of a version that did not seal it, it is derived from the private key.
   *
   * @throws UnprovenKey when nothing is sealed; SealingError when none of the master keys opens it; Error when it belongs to another row
   */
  publicKeyOf(row: TokenKeyRow): Buffer
  /** The private key in DER form; null when it was deleted. @throws as `publicKeyOf` */
  privateKeyOf(row: TokenKeyRow): Buffer | null
  /** Both halves sealed with the first master key, as far as they are there. @throws as `publicKeyOf` */
  reseal(row: TokenKeyRow): Pick<TokenKeyRow, 'sealedPublicKey' | 'sealedPrivateKey'>
  /** Whether `reseal` would change nothing. */
  isCurrent(row: TokenKeyRow): boolean
}

export function createTokenKeySealing(masterKeys: readonly Buffer[]): TokenKeySealing {
  const publicKeys = createSealer(masterKeys, 'token-public-keys')
  const privateKeys = createSealer(masterKeys, 'token-keys')

  const privateKeyOf = ({ keyId, sealedPrivateKey }: TokenKeyRow): Buffer | null =>
    sealedPrivateKey && privateKeys.open(sealedPrivateKey, Buffer.from(keyId))

  const publicKeyOf = (row: TokenKeyRow): Buffer => {
    if (row.sealedPublicKey) return publicKeys.open(row.sealedPublicKey, Buffer.from(row.keyId))
    const privateKey = privateKeyOf(row)
    if (!privateKey) throw new UnprovenKey()
    const key = createPrivateKey({ key: privateKey, type: 'pkcs8', format: 'der' })
    return createPublicKey(key).export({ type: 'spki', format: 'der' })
  }

  return {
    publicKeyOf,
    privateKeyOf,
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
    isCurrent: ({ sealedPublicKey, sealedPrivateKey }) =>
      sealedPublicKey !== null &&
      publicKeys.isCurrent(sealedPublicKey) &&
      (sealedPrivateKey === null || privateKeys.isCurrent(sealedPrivateKey)),
  }
}

/** Neither half of the key is sealed in the row. */
class UnprovenKey extends Error {
  override name = 'UnprovenKey'
  override message = 'Nothing proves that the platform has made this key'
}
