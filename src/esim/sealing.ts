/**
 * Installation secrets at rest (behaviour.md, section 4): `iccid`, `pin1` and `activationCode` are kept only as AES-256-GCM
 * ciphertext under a key derived from the master key. The ICCID's keyed hash makes it findable without being readable.
 *
 * Layout: 4 bytes key id, 12 bytes nonce, 16 bytes tag, ciphertext. The additional data binds the ciphertext to its row (profile id,
 * tariff and ICCID hash), so a ciphertext that was moved to another row does not open (security.md, W7). Version 0.2 bound only the
 * hash: such rows have a key of another purpose, are still read, and `perkline keys rotate` seals them anew.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from 'node:crypto'
import type { Queryable } from '../db/database.ts'
import { deriveKeys } from '../keys.ts'

export type ProfileSecrets = { iccid: string; pin1: string; activationCode: string }

/** The row that a ciphertext belongs to. */
export type ProfileRow = { profileId: number; tariffId: number; iccidHash: Buffer }

export type Sealing = {
  seal(secrets: ProfileSecrets, row: ProfileRow): Buffer
  /** @throws when the ciphertext was changed or belongs to another row; SealingError when none of the keys fits */
  open(sealed: Buffer, row: ProfileRow): ProfileSecrets
  hashIccid(iccid: string): Buffer
  /** False when the ciphertext was made with another key than the first, or by version 0.2. */
  isCurrent(sealed: Buffer): boolean
}

/** The keys at hand do not open what is in the database. */
export class SealingError extends Error {
  override name = 'SealingError'
}

/** @param indexKey key of the ICCID's hash, see `loadIndexKey` */
export function createSealing(masterKeys: readonly Buffer[], indexKey: Buffer): Sealing {
  const keys = sealingKeys(masterKeys, 'bound-profiles')
  const keysBoundToHash = sealingKeys(masterKeys, 'profiles')
  const hashKey = createSecretKey(indexKey)
  const openAny = (sealed: Buffer, row: ProfileRow): Buffer =>
    keysBoundToHash.some(({ id }) => id === keyIdOf(sealed))
      ? openBytes(keysBoundToHash, sealed, row.iccidHash)
      : openBytes(keys, sealed, associatedData(row))
  return {
    seal: ({ iccid, pin1, activationCode }, row) =>
      sealBytes(keys[0], Buffer.from(`${iccid}\n${pin1}\n${activationCode}`), associatedData(row)),
    open(sealed, row) {
      const [iccid = '', pin1 = '', activationCode = ''] = openAny(sealed, row).toString().split('\n')
      return { iccid, pin1, activationCode }
    },
    hashIccid: iccid => createHmac('sha256', hashKey).update(iccid).digest(),
    isCurrent: sealed => keyIdOf(sealed) === keys[0].id,
  }
}

const keyIdOf = (sealed: Buffer): string => sealed.toString('hex', 0, 4)

/** 8 bytes profile id, 4 bytes tariff id, then the ICCID hash. */
function associatedData({ profileId, tariffId, iccidHash }: ProfileRow): Buffer {
  const data = Buffer.allocUnsafe(12 + iccidHash.length)
  data.writeBigInt64BE(BigInt(profileId), 0)
  data.writeInt32BE(tariffId, 8)
  iccidHash.copy(data, 12)
  return data
}

const indexKeyPurpose = 'iccid-index'

/**
 * The key of the ICCID's hash: random, made once for a database and kept sealed in it, because a hash that changed with the master
 * key would forget which profiles are in stock already.
 *
 * @throws SealingError when none of the master keys opens it: they are not this database's
 */
export async function loadIndexKey(database: Queryable, masterKeys: readonly Buffer[]): Promise<Buffer> {
  const keys = sealingKeys(masterKeys, 'sealed-keys')
  const purpose = Buffer.from(indexKeyPurpose)
  await database.execute('insert into sealed_keys (purpose, sealed) values ($1, $2) on conflict do nothing', [
    indexKeyPurpose,
    sealBytes(keys[0], randomBytes(32), purpose),
  ])
  const [row] = await database.query<{ sealed: Buffer }>('select sealed from sealed_keys where purpose = $1', [
    indexKeyPurpose,
  ])
  if (!row) throw new SealingError('The key of the ICCID index is gone from the database')
  return openBytes(keys, row.sealed, purpose)
}

/** Seals the index key anew under the first master key, so that the others can be taken away. */
export async function resealIndexKey(database: Queryable, masterKeys: readonly Buffer[]): Promise<void> {
  const key = await loadIndexKey(database, masterKeys)
  const sealed = sealBytes(sealingKeys(masterKeys, 'sealed-keys')[0], key, Buffer.from(indexKeyPurpose))
  await database.execute('update sealed_keys set sealed = $2 where purpose = $1', [indexKeyPurpose, sealed])
}

type SealingKey = { id: string; key: KeyObject }

/** Made into key objects once: made from bytes for each profile, that would cost more than the sealing. */
function sealingKeys(masterKeys: readonly Buffer[], purpose: string): [SealingKey, ...SealingKey[]] {
  const [first, ...others] = deriveKeys(masterKeys, purpose)
  const prepare = ({ id, key }: { id: string; key: Buffer }) => ({ id, key: createSecretKey(key) })
  return [prepare(first), ...others.map(prepare)]
}

const nonceBytes = 12
const nonces = Buffer.alloc(nonceBytes * 512)
let nextNonce = nonces.length

/** Random and used once; drawn many at a time, which is ten times quicker. */
function takeNonce(): Buffer {
  if (nextNonce === nonces.length) {
    randomFillSync(nonces)
    nextNonce = 0
  }
  nextNonce += nonceBytes
  return nonces.subarray(nextNonce - nonceBytes, nextNonce)
}

function sealBytes({ id, key }: SealingKey, plain: Buffer, associated: Buffer): Buffer {
  const nonce = takeNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated)
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from(id, 'hex'), nonce, cipher.getAuthTag(), encrypted])
}

function openBytes(keys: readonly SealingKey[], sealed: Buffer, associated: Buffer): Buffer {
  const id = keyIdOf(sealed)
  const key = keys.find(candidate => candidate.id === id)
  if (!key)
    throw new SealingError('MASTER_KEY does not hold the key that the database was sealed with; add it after a comma')
  const decipher = createDecipheriv('aes-256-gcm', key.key, sealed.subarray(4, 16), { authTagLength: 16 }).setAAD(
    associated,
  )
  decipher.setAuthTag(sealed.subarray(16, 32))
  return Buffer.concat([decipher.update(sealed.subarray(32)), decipher.final()])
}
