/**
 * Keys that stay the same when the master key changes. Each is random, made once for a database, and stored encrypted
 * in the database.
 */
import { randomBytes } from 'node:crypto'
import type { Queryable } from './db/database.ts'
import { createSealer, SealingError, unknownMasterKey } from './sealing.ts'

const sealerOf = (masterKeys: readonly Buffer[], purpose: string) => createSealer(masterKeys, 'sealed-keys', purpose)

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
    sealerOf(masterKeys, purpose).seal(randomBytes(32), Buffer.from(purpose)),
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
  return sealerOf(masterKeys, purpose).open(row.sealed, Buffer.from(purpose))
}

/** Encrypts a key again with the first master key, so that the other master keys can be removed. */
export async function resealKey(database: Queryable, masterKeys: readonly Buffer[], purpose: string): Promise<void> {
  const key = await loadSealedKey(database, masterKeys, purpose)
  const sealed = sealerOf(masterKeys, purpose).seal(key, Buffer.from(purpose))
  await database.execute('update sealed_keys set sealed = $2 where purpose = $1', [purpose, sealed])
}

/**
 * The purposes of the keys that were sealed with none of the master keys. It makes no key, and also reads a database that has no schema
 * yet, or that of an earlier version.
 */
export async function findUnopenedKeys(database: Queryable, masterKeys: readonly Buffer[]): Promise<string[]> {
  const [found] = await database.query<{ hasKeys: boolean }>(
    `select count(*) = 2 as "hasKeys" from pg_attribute
     where attrelid = to_regclass('sealed_keys') and attname in ('purpose', 'sealed')`,
  )
  if (!found?.hasKeys) return []
  const rows = await database.query<{ purpose: string; sealed: Buffer }>(
    'select purpose, sealed from sealed_keys order by purpose',
  )
  return rows
    .filter(({ purpose, sealed }) => !sealerOf(masterKeys, purpose).knows(sealed))
    .map(({ purpose }) => purpose)
}

/**
 * Refuses a database that was sealed with other master keys, before anything in it is changed.
 *
 * @throws SealingError
 */
export async function requireMasterKey(database: Queryable, masterKeys: readonly Buffer[]): Promise<void> {
  const unopened = await findUnopenedKeys(database, masterKeys)
  if (unopened.length > 0) throw unknownMasterKey(...unopened)
}
