/** All SQL of the key pairs that sign tokens. */
import type { Queryable } from '../db/database.ts'

/**
 * @property sealedPublicKey null when an earlier version stored the key without sealing it
 * @property sealedPrivateKey null after its deletion; tokens of this key are then no longer accepted
 */
export type TokenKeyRow = {
  keyId: string
  sealedPublicKey: Buffer | null
  sealedPrivateKey: Buffer | null
  signsFrom: Date
}

const tokenKeysLock = 7_365_016

/** Makes other changes of the keys wait until the transaction ends. */
export async function lockTokenKeys(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [tokenKeysLock])
}

/** All keys, in the order in which they sign. */
export function findTokenKeys(database: Queryable): Promise<TokenKeyRow[]> {
  return database.query({
    name: 'access.find-token-keys',
    text: `select key_id as "keyId", sealed_public_key as "sealedPublicKey", sealed_private_key as "sealedPrivateKey",
                  signs_from as "signsFrom"
           from token_keys order by signs_from`,
  })
}

/** @param key `publicKey` is only for processes of earlier versions, which do not know `sealedPublicKey` */
export async function insertTokenKey(
  transaction: Queryable,
  key: TokenKeyRow & { publicKey: Buffer },
  createdAt: Date,
): Promise<void> {
  await transaction.execute(
    `insert into token_keys (key_id, public_key, sealed_public_key, sealed_private_key, created_at, signs_from)
     values ($1, $2, $3, $4, $5, $6)`,
    [key.keyId, key.publicKey, key.sealedPublicKey, key.sealedPrivateKey, createdAt, key.signsFrom],
  )
}

export async function replaceSealed(
  transaction: Queryable,
  { keyId, sealedPublicKey, sealedPrivateKey }: Omit<TokenKeyRow, 'signsFrom'>,
): Promise<void> {
  await transaction.execute('update token_keys set sealed_public_key = $2, sealed_private_key = $3 where key_id = $1', [
    keyId,
    sealedPublicKey,
    sealedPrivateKey,
  ])
}

/** Deletes the private keys that a newer key replaced before `supersededBefore`. */
export async function forgetPrivateKeys(transaction: Queryable, supersededBefore: Date): Promise<void> {
  await transaction.execute(
    `update token_keys k set sealed_private_key = null
     where sealed_private_key is not null
       and exists (select from token_keys n where n.signs_from > k.signs_from and n.signs_from < $1)`,
    [supersededBefore],
  )
}

/** Whether the database has credentials or users, so that somebody could have a token. */
export async function hasCredentials(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ found: boolean }>(
    'select exists (select from credentials) or exists (select from portal_users) as found',
  )
  return row?.found === true
}
