/** Reads how quickly the stock is sold, and when it was last imported. */
import type { Queryable } from '../../db/database.ts'
import { countSoldSince } from '../sold/figures-store.ts'

export type TariffPace = {
  operatorCode: string
  operatorName: string
  operatorNameEn: string
  tariffCode: string
  tariffName: string
  /** True when the tariff can be ordered: it is on sale and its mobile operator is active. */
  isOffered: boolean
  sold: number
  /** null: nothing was ever imported. */
  importedAt: Date | null
}

/**
 * The last profile of the tariff `t`. If `t` has none, it is a profile of a tariff before `t`, which the caller
 * ignores. The condition compares both columns as one row, so that PostgreSQL can use only the index by tariff. With
 * `tariff_id = t.tariff_id`, when most tariffs have no profiles, PostgreSQL could choose the primary key. It would then
 * read all profiles for each tariff without profiles.
 */
const lastProfile = `
  select p.tariff_id, p.imported_at from profiles p
  where (p.tariff_id, p.profile_id) <= (t.tariff_id, ${Number.MAX_SAFE_INTEGER})
  order by p.tariff_id desc, p.profile_id desc limit 1`

/** Reads, for every tariff, the sales since an instant and the time of the last import. */
export async function readPace(database: Queryable, since: Date): Promise<TariffPace[]> {
  const tariffs = await database.query<Omit<TariffPace, 'sold'> & { tariffId: number }>(
    `select t.tariff_id as "tariffId", m.code as "operatorCode", m.name_uk as "operatorName", m.name_en as "operatorNameEn",
            t.code as "tariffCode", t.name as "tariffName", t.on_sale and m.status = 'active' as "isOffered",
            last.imported_at as "importedAt"
     from tariffs t join mobile_operators m using (mobile_operator_id)
     left join lateral (${lastProfile}) as last on last.tariff_id = t.tariff_id`,
  )
  const sold = await countSoldSince(database, since)
  return tariffs.map(({ tariffId, ...tariff }) => ({ ...tariff, sold: sold.get(tariffId) ?? 0 }))
}
