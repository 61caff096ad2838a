/** Fills tables quickly: without their indexes, which are made afterwards, and over two connections. */
import pg from 'pg'

export type Connect = () => Promise<pg.Client>

export const connectTo = (url: string): Connect => {
  return async () => {
    const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' })
    await client.connect()
    await client.query(`set maintenance_work_mem = '1GB'`)
    return client
  }
}

const lanes = 2

/** Runs all pieces of work, two at a time. */
export async function inLanes(connect: Connect, work: ((client: pg.Client) => Promise<unknown>)[]): Promise<void> {
  const left = work.values()
  const lane = async () => {
    const client = await connect()
    try {
      for (const piece of left) await piece(client)
    } finally {
      await client.end()
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** Splits the numbers from 1 to `count` into ranges of at most `size` numbers. */
export const ranges = (count: number, size: number): { from: number; to: number }[] =>
  Array.from({ length: Math.ceil(count / size) }, (_, index) => ({
    from: index * size + 1,
    to: Math.min(count, (index + 1) * size),
  }))

type Definition = { table: string; name: string; definition: string; kind: 'p' | 'u' | 'f' | null }

/**
 * Drops the indexes, keys and foreign keys of these tables, and the foreign keys that refer to them, runs `load`, and
 * creates them again.
 */
export async function withoutIndexes(connect: Connect, tables: string[], load: () => Promise<void>): Promise<void> {
  const client = await connect()
  try {
    const { rows: foreign } = await client.query<Definition>(foreignKeys, [tables])
    const { rows: indexes } = await client.query<Definition>(indexesOf, [tables])
    for (const { table, name } of foreign) await client.query(`alter table ${table} drop constraint ${name}`)
    for (const { table, name, kind } of indexes)
      await client.query(kind ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`)
    await load()
    await inLanes(
      connect,
      indexes.map(
        ({ definition }) =>
          own =>
            own.query(definition),
      ),
    )
    for (const { table, name, kind } of indexes)
      if (kind)
        await client.query(
          `alter table ${table} add constraint ${name} ${kind === 'p' ? 'primary key' : 'unique'} using index ${name}`,
        )
    for (const { table, name, definition } of foreign)
      await client.query(`alter table ${table} add constraint ${name} ${definition}`)
  } finally {
    await client.end()
  }
}

const foreignKeys = `
  select conrelid::regclass as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition, contype as kind
  from pg_constraint where contype = 'f' and (conrelid = any($1::regclass[]) or confrelid = any($1::regclass[]))`
const indexesOf = `
  select i.indrelid::regclass as table, i.indexrelid::regclass as name, pg_get_indexdef(i.indexrelid) as definition, c.contype as kind
  from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
  where i.indrelid = any($1::regclass[]) order by pg_relation_size(i.indrelid) desc`
