/** Keys that must outlive a change of the master key: random, made once for a database, and kept sealed in it. */
import { randomBytes } from 'node:crypto'
import type { Queryable } from './db/database.ts'
import { createSealer, SealingError } from './sealing.ts'

const sealerOf = (masterKeys: readonly Buffer[]) => createSealer(masterKeys, 'sealed-keys')

/**
 * The key of this purpose, made when it is first asked for.
 *
 * @throws SealingError when none of the master keys opens it: they are not this database's
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
 * The key of a database that has been used; nothing is made.
 *
 * @throws SealingError when there is none, or none of the master keys opens it
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

/** Seals a key anew under the first master key, so that the others can be taken away. */
export async function resealKey(database: Queryable, masterKeys: readonly Buffer[], purpose: string): Promise<void> {
  const key = await loadSealedKey(database, masterKeys, purpose)
  const sealed = sealerOf(masterKeys).seal(key, Buffer.from(purpose))
  await database.execute('update sealed_keys set sealed = $2 where purpose = $1', [purpose, sealed])
}
