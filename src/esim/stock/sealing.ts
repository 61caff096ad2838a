/**
 * Encrypts installation secrets at rest (contract/esim.md, "Secrets"). `iccid`, `pin1` and `activationCode` are stored
 * only as AES-256-GCM ciphertext under a key derived from the master key. A keyed hash of the ICCID allows a search
 * without making the ICCID readable. A keyed hash of the activation code shows when two profiles have the same code.
 *
 * The additional data binds a ciphertext to its row: profile id, tariff and ICCID hash (contract/security.md, "Keys").
 * Version 0.2 bound it only to the hash and used a key derived for another purpose. Such rows can still be read, and
 * `perkline keys rotate` seals them again.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import type { Queryable } from '../../db/database.ts'
import { loadSealedKey, readSealedKey, resealKey } from '../../sealed-keys.ts'
import { createSealer } from '../../sealing.ts'

export type ProfileSecrets = { iccid: string; pin1: string; activationCode: string }

/** The row that a ciphertext belongs to. */
export type ProfileRow = { profileId: number; tariffId: number; iccidHash: Buffer }

export type Sealing = {
  seal(secrets: ProfileSecrets, row: ProfileRow): Buffer
  /**
   * @throws Error when the ciphertext was changed or belongs to another row; SealingError when it was made with none of
   *   the keys
   */
  open(sealed: Buffer, row: ProfileRow): ProfileSecrets
  hashIccid(iccid: string): Buffer
  /**
   * Two codes have the same hash if they install the same profile: they have the same SM-DP+ address, in upper or lower case, and the
   * same matching id.
   *
   * @returns null for a code without a matching id. Such a code names no profile: the SM-DP+ chooses one for the device
   */
  hashActivationCode(activationCode: string): Buffer | null
  /** False when the ciphertext was made with a key other than the first, or by version 0.2. */
  isCurrent(sealed: Buffer): boolean
}

/** @param indexKey key of the hashes, see `loadIndexKey` */
export function createSealing(masterKeys: readonly Buffer[], indexKey: Buffer): Sealing {
  const sealer = createSealer(masterKeys, 'bound-profiles')
  const boundToHash = createSealer(masterKeys, 'profiles')
  const hashKey = createSecretKey(indexKey)
  const openAny = (sealed: Buffer, row: ProfileRow): Buffer =>
    boundToHash.knows(sealed) ? boundToHash.open(sealed, row.iccidHash) : sealer.open(sealed, additionalData(row))
  return {
    seal: ({ iccid, pin1, activationCode }, row) =>
      sealer.seal(Buffer.from(`${iccid}\n${pin1}\n${activationCode}`), additionalData(row)),
    open(sealed, row) {
      const [iccid = '', pin1 = '', activationCode = ''] = openAny(sealed, row).toString().split('\n')
      return { iccid, pin1, activationCode }
    },
    hashIccid: iccid => createHmac('sha256', hashKey).update(iccid).digest(),
    hashActivationCode(activationCode) {
      const [, address = '', matchingId = ''] = activationCode.split('$')
      if (matchingId === '') return null
      // An ICCID has only digits. So, with this prefix, no activation code has the same hash as an ICCID.
      return createHmac('sha256', hashKey).update(`activation-code:${address.toLowerCase()}$${matchingId}`).digest()
    },
    isCurrent: sealer.isCurrent,
  }
}

/** The data that binds a ciphertext to its row: 8 bytes profile id, 4 bytes tariff id, then the ICCID hash. */
function additionalData({ profileId, tariffId, iccidHash }: ProfileRow): Buffer {
  const data = Buffer.allocUnsafe(12 + iccidHash.length)
  data.writeBigInt64BE(BigInt(profileId), 0)
  data.writeInt32BE(tariffId, 8)
  iccidHash.copy(data, 12)
  return data
}

const indexKeyPurpose = 'iccid-index'

/**
 * The key of the hashes of ICCIDs and activation codes. It is random, made once for each database, and stored there in
 * sealed form. If it were derived from the master key, a new master key would change all hashes, and profiles in stock
 * would no longer be recognised.
 *
 * @throws SealingError when none of the master keys can decrypt it; they probably belong to another database
 */
export const loadIndexKey = (database: Queryable, masterKeys: readonly Buffer[]): Promise<Buffer> =>
  loadSealedKey(database, masterKeys, indexKeyPurpose)

/**
 * Like `loadIndexKey`, but never makes a new key. It is for a database that has been used before.
 *
 * @throws SealingError when there is no key, or none of the master keys can decrypt it
 */
export const readIndexKey = (database: Queryable, masterKeys: readonly Buffer[]): Promise<Buffer> =>
  readSealedKey(database, masterKeys, indexKeyPurpose)

/** Seals the index key again under the first master key, so that the other keys can be removed. */
export const resealIndexKey = (database: Queryable, masterKeys: readonly Buffer[]): Promise<void> =>
  resealKey(database, masterKeys, indexKeyPurpose)
