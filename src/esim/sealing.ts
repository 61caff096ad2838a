/**
 * Installation secrets at rest (behaviour.md, section 4): `iccid`, `pin1` and `activationCode` are kept only as AES-256-GCM
 * ciphertext under a key derived from the master key. The ICCID's keyed hash makes it findable without being readable.
 *
 * Layout: 4 bytes key id, 12 bytes nonce, 16 bytes tag, ciphertext. The hash is authenticated with it, so that a ciphertext moved to
 * another profile does not open.
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

export type Sealing = {
  seal(secrets: ProfileSecrets, iccidHash: Buffer): Buffer
  open(sealed: Buffer, iccidHash: Buffer): ProfileSecrets
  hashIccid(iccid: string): Buffer
  /** False when the ciphertext was made with another key than the first. */
  isCurrent(sealed: Buffer): boolean
}

/** The keys at hand do not open what is in the database. */
export class SealingError extends Error {
  override name = 'SealingError'
}

/** @param indexKey key of the ICCID's hash, see `loadIndexKey` */
export function createSealing(masterKeys: readonly Buffer[], indexKey: Buffer): Sealing {
  const keys = sealingKeys(masterKeys, 'profiles')
  const hashKey = createSecretKey(indexKey)
  return {
    seal: ({ iccid, pin1, activationCode }, iccidHash) =>
      sealBytes(keys[0], Buffer.from(`${iccid}\n${pin1}\n${activationCode}`), iccidHash),
    open(sealed, iccidHash) {
      const [iccid = '', pin1 = '', activationCode = ''] = openBytes(keys, sealed, iccidHash).toString().split('\n')
      return { iccid, pin1, activationCode }
    },
    hashIccid: iccid => createHmac('sha256', hashKey).update(iccid).digest(),
    isCurrent: sealed => sealed.toString('hex', 0, 4) === keys[0].id,
  }
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
  const id = sealed.toString('hex', 0, 4)
  const key = keys.find(candidate => candidate.id === id)
  if (!key)
    throw new SealingError('MASTER_KEY does not hold the key that the database was sealed with; add it after a comma')
  const decipher = createDecipheriv('aes-256-gcm', key.key, sealed.subarray(4, 16), { authTagLength: 16 }).setAAD(
    associated,
  )
  decipher.setAuthTag(sealed.subarray(16, 32))
  return Buffer.concat([decipher.update(sealed.subarray(32)), decipher.final()])
}
