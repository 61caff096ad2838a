/**
 * The mode of a database (sandbox or live). It never changes, so that test data and real customers never share a database.
 */
import type { Queryable } from './database.ts'
import { SchemaError } from './migrate.ts'

export type Mode = 'sandbox' | 'live'

/** Signs of a sandbox: a moved clock, sample data, or a first start that has begun to load sample data. */
const isSandbox = `(
  exists (select from sandbox_clock where offset_ms <> 0) or exists (select from sample_loading)
  or 2 <= (select count(*) from credentials join banks using (bank_id)
           where credentials.label = 'sample' and banks.code in ('alpha', 'beta')))`

/**
 * Binds a database to the mode of its first use. A database of version 0.2 has no stored mode. It gets the given mode,
 * unless its data shows that it is a sandbox. When two processes make a first start in different modes, the database is
 * bound to one of them, and the other process gets the error.
 *
 * @throws SchemaError when the database is bound to the other mode
 */
export async function bindMode(database: Queryable, params: Mode): Promise<void> {
  await database.execute(
    `insert into database_mode (mode) select case when ${isSandbox} then 'sandbox' else $1 end on conflict do nothing`,
    [params],
  )
  const mode = await boundMode(database)
  if (mode !== params)
    throw new SchemaError(
      `This database belongs to ${mode} mode, and the platform was started in ${params} mode: set PERKLINE_MODE=${mode}, or ` +
        `give ${params} mode a database of its own`,
    )
}

/** The mode that a database is bound to; null when it has never been used. */
export async function boundMode(database: Queryable): Promise<Mode | null> {
  const [row] = await database.query<{ mode: Mode }>('select mode from database_mode')
  return row?.mode ?? null
}
