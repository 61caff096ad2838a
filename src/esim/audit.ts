import type { Queryable } from '../db/database.ts'

export async function audit(
  database: Queryable,
  _now: Date,
): Promise<{ ok: boolean; checks: { name: string; ok: boolean; detail: string }[] }> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from (select profile_id from orders where status in ('reserved','confirmed','withdrawn') group by 1 having count(*) > 1) x`,
  )
  const ok = row?.count === 0
  return { ok, checks: [{ name: 'no profile on two live orders', ok, detail: `${row?.count}` }] }
}
