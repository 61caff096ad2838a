/**
 * Keys that stay the same when the master key changes. Each is random, made once for a database, and stored encrypted
 * in the database.
 */
import { randomBytes } from 'node:crypto'
import type { Queryable } from './db/database.ts'
import { createSealer, SealingError } from './sealing.ts'

const sealerOf = (masterKeys: readonly Buffer[]) => createSealer(masterKeys, 'sealed-keys')

/**
 * Returns the key for this purpose. The first call for a database makes the key.
 *
 * @throws SealingError when none of the master keys can decrypt it: they belong to another database
 */
export async function loadSealedKey(
  database: Queryable,
  masterKeys: readonly Buffer[],
  purpose: string,
): Promise<Buffer> {
  await database.execute('insert into sealed_keys (purpose, sealed) values ($1, $2) on conflict do nothing', [
    purpose,
    sealerOf(masterKeys).seal(randomBytes(32), Buffer.from(purpose)),
  ])
  return readSealedKey(database, masterKeys, purpose)
}

/**
 * Returns the key of a database that has already been used. Never makes a new key.
 *
 * @throws SealingError when there is no key, or none of the master keys can decrypt it
 */
export async function readSealedKey(
  database: Queryable,
  masterKeys: readonly Buffer[],
  purpose: string,
): Promise<Buffer> {
  const [row] = await database.query<{ sealed: Buffer }>('select sealed from sealed_keys where purpose = $1', [purpose])
  if (!row) throw new SealingError(`The key ${purpose} is gone from the database`)
  return sealerOf(masterKeys).open(row.sealed, Buffer.from(purpose))
}

/** Encrypts a key again with the first master key, so that the other master keys can be removed. */
export async function resealKey(database: Queryable, masterKeys: readonly Buffer[], purpose: string): Promise<void> {
  const key = await loadSealedKey(database, masterKeys, purpose)
  const sealed = sealerOf(masterKeys).seal(key, Buffer.from(purpose))
  await database.execute('update sealed_keys set sealed = $2 where purpose = $1', [purpose, sealed])
}
