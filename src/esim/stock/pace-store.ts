/** All SQL that measures how quickly the stock is sold. */
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

/** Reads, for every tariff, the sales since an instant and the time of the last import. */
export async function readPace(database: Queryable, since: Date): Promise<TariffPace[]> {
  const [tariffs, sold] = await Promise.all([
    database.query<Omit<TariffPace, 'sold'> & { tariffId: number }>(
      `select t.tariff_id as "tariffId", m.code as "operatorCode", m.name_uk as "operatorName", m.name_en as "operatorNameEn",
              t.code as "tariffCode", t.name as "tariffName", t.on_sale and m.status = 'active' as "isOffered", (
                select p.imported_at from profiles p where p.tariff_id = t.tariff_id order by p.profile_id desc limit 1
              ) as "importedAt"
       from tariffs t join mobile_operators m using (mobile_operator_id)`,
    ),
    countSoldSince(database, since),
  ])
  return tariffs.map(({ tariffId, ...tariff }) => ({ ...tariff, sold: sold.get(tariffId) ?? 0 }))
}
