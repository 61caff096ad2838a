/**
 * Measures how much disk space the large world uses and how many connections a platform opens. These figures help to
 * plan a server.
 */
import type { Figure } from '../../report.ts'
import { type Part, shown } from '../compared.ts'
import type { Side, Sides } from '../sides.ts'

/** Groups of tables, with the unit by which each group grows. */
const kinds = [
  { name: 'million orders', of: 1_000_000, tables: ['orders'], counted: 'orders' },
  {
    name: 'million orders in the sales figures',
    of: 1_000_000,
    tables: ['sales_days', 'sales_hours'],
    counted: 'orders',
  },
  { name: 'million profiles', of: 1_000_000, tables: ['profiles'], counted: 'profiles' },
  {
    name: 'thousand campaigns of ten banks, with their history',
    of: 1_000,
    tables: ['campaigns', 'campaign_banks', 'campaign_history'],
    counted: 'campaigns',
  },
] as const

export const sizePart: Part = {
  name: 'size',
  async run(_, { large }: Sides) {
    const figures: Figure[] = []
    for (const kind of kinds) figures.push(await sizeOf(large, kind))
    const [row] = await large.query<{ connections: number }>(
      `select count(*)::int as connections from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    return [...figures, told('connections of a platform at rest', String(row?.connections ?? 0))]
  },
}

async function sizeOf({ query, sizes }: Side, { name, of, tables, counted }: (typeof kinds)[number]): Promise<Figure> {
  const [row] = await query<{ rows: string; indexes: string }>(
    `select sum(pg_table_size(name::regclass)) as rows, sum(pg_indexes_size(name::regclass)) as indexes from unnest($1::text[]) name`,
    [tables],
  )
  const mb = (bytes: string | undefined) => shown(Math.round((Number(bytes) / sizes[counted] / 1_000_000) * of))
  return told(`disk of a ${name}`, `${mb(row?.rows)} MB rows, ${mb(row?.indexes)} MB indexes`)
}

const told = (name: string, ours: string): Figure => ({ name, ours, limit: '', ratio: null, target: '', pass: null })
