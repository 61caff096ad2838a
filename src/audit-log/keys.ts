/**
 * The key pair that signs checkpoints. It is created at the first start; the private key is stored encrypted in the
 * database.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { realNow } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { createSealer } from '../sealing.ts'
import { type AuditKey, originOfAccount, originOfNotes } from './note.ts'

const purpose = 'audit-log'
const keysLock = 7_365_035

type KeyRow = { keyId: string; publicKey: Buffer; sealedPrivateKey: Buffer | null }
export type Signer = { name: string; key: AuditKey & { privateKey: KeyObject } }

const findKeys = (database: Queryable): Promise<KeyRow[]> =>
  database.query(
    `select key_id as "keyId", public_key as "publicKey", sealed_private_key as "sealedPrivateKey"
     from audit_keys order by created_at, key_id`,
  )

/** Creates the key pair if there is none. */
export async function ensureAuditKey(database: Database, masterKeys: readonly Buffer[]): Promise<void> {
  if ((await findKeys(database)).length > 0) return
  await database.transaction(async transaction => {
    await transaction.execute('select pg_advisory_xact_lock($1)', [keysLock])
    if ((await findKeys(transaction)).length > 0) return
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const x = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
    const keyId = thumbprint(x)
    const plain = privateKey.export({ format: 'der', type: 'pkcs8' })
    await transaction.execute(
      'insert into audit_keys (key_id, public_key, sealed_private_key, created_at) values ($1, $2, $3, $4)',
      [keyId, x, createSealer(masterKeys, purpose).seal(plain, Buffer.from(keyId)), realNow()],
    )
  })
}

/** The thumbprint of the key as a JWK (RFC 7638, RFC 8037). */
const thumbprint = (x: Buffer): string =>
  createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: x.toString('base64url') }))
    .digest('base64url')

/** The current signing key. @throws SealingError when none of the master keys can decrypt it */
export async function findSigner(database: Queryable, masterKeys: readonly Buffer[]): Promise<Signer> {
  const [installation] = await database.query<{ id: string }>('select installation_id as id from installation')
  const row = (await findKeys(database)).findLast(({ sealedPrivateKey }) => sealedPrivateKey !== null)
  if (!row?.sealedPrivateKey || !installation) throw new Error('There is no key that signs checkpoints')
  const plain = createSealer(masterKeys, purpose).open(row.sealedPrivateKey, Buffer.from(row.keyId))
  const privateKey = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' })
  return { name: originOfNotes(installation.id), key: { x: row.publicKey, privateKey } }
}

/**
 * The current signing key, with the name that it has in checkpoints of one account's chain. @throws SealingError as
 * `findSigner`
 */
export async function findAccountSigner(
  database: Queryable,
  masterKeys: readonly Buffer[],
  accountId: string,
): Promise<Signer> {
  const { name, key } = await findSigner(database, masterKeys)
  return { name: originOfAccount(name, accountId), key }
}

/** All keys that sign or have signed checkpoints. */
export const findAuditKeys = async (database: Queryable): Promise<(AuditKey & { keyId: string })[]> =>
  (await findKeys(database)).map(({ keyId, publicKey }) => ({ keyId, x: publicKey }))

/** Encrypts the private keys again with the first master key, so that the other keys can be removed. */
export async function resealAuditKeys(database: Database, masterKeys: readonly Buffer[]): Promise<void> {
  const sealer = createSealer(masterKeys, purpose)
  await database.transaction(async transaction => {
    await transaction.execute('select pg_advisory_xact_lock($1)', [keysLock])
    for (const { keyId, sealedPrivateKey } of await findKeys(transaction)) {
      if (sealedPrivateKey === null || sealer.isCurrent(sealedPrivateKey)) continue
      const data = Buffer.from(keyId)
      await transaction.execute('update audit_keys set sealed_private_key = $2 where key_id = $1', [
        keyId,
        sealer.seal(sealer.open(sealedPrivateKey, data), data),
      ])
    }
  })
}
