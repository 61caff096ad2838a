/** SQL of the support bundle: sizes, versions and counts, but no value that a person has entered. */
import type { Queryable } from '../db/database.ts'

/** Settings that decide whether acknowledged data is safe and how fast the database is. */
const settingNames = [
  ...['server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'wal_level'],
  ...[
    'archive_mode',
    'max_connections',
    'shared_buffers',
    'work_mem',
    'autovacuum',
    'max_wal_size',
    'checkpoint_timeout',
  ],
  ...['wal_compression', 'data_checksums', 'TimeZone'],
]

export type DatabaseState = {
  settings: { name: string; value: string }[]
  migrations: { version: number; name: string; appliedAt: Date }[]
  tables: { table: string; estimatedRows: number; bytes: number }[]
  connections: { program: string; state: string; count: number }[]
  sizeBytes: number
}

export async function readDatabaseState(database: Queryable): Promise<DatabaseState> {
  const [settings, migrations, tables, connections, [size]] = await Promise.all([
    database.query<DatabaseState['settings'][number]>(
      'select name, setting as value from pg_settings where name = any($1) order by name',
      [settingNames],
    ),
    database.query<DatabaseState['migrations'][number]>(
      'select version, name, applied_at as "appliedAt" from schema_migrations order by version',
    ),
    database.query<DatabaseState['tables'][number]>(
      `select relname as table, greatest(reltuples, 0)::bigint as "estimatedRows", pg_total_relation_size(oid) as bytes
       from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname`,
    ),
    database.query<DatabaseState['connections'][number]>(
      `select coalesce(nullif(application_name, ''), 'unnamed') as program, coalesce(state, 'unknown') as state, count(*)::int as count
       from pg_stat_activity where datname = current_database() group by 1, 2 order by 1, 2`,
    ),
    database.query<{ sizeBytes: number }>('select pg_database_size(current_database()) as "sizeBytes"'),
  ])
  return { settings, migrations, tables, connections, sizeBytes: size?.sizeBytes ?? 0 }
}
