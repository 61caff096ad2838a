/** All SQL of how quickly the stock goes. */
import type { Queryable } from '../db/database.ts'
import { reservationMinutes } from './lifecycle.ts'
import { firstOrderId } from './order-id.ts'

export type TariffPace = {
  operatorCode: string
  operatorName: string
  operatorNameEn: string
  tariffCode: string
  tariffName: string
  /** It can be ordered: the tariff is on sale and its operator active. */
  isOffered: boolean
  sold: number
  /** null: nothing was ever loaded. */
  importedAt: Date | null
}

/** Every tariff with what was sold of it since an instant, and when its stock last grew. */
export function countSoldSince(database: Queryable, since: Date): Promise<TariffPace[]> {
  // What was confirmed since then was made shortly before at the earliest; an order's id begins with the instant at which it was made.
  const madeFrom = new Date(since.getTime() - reservationMinutes * 60_000)
  return database.query(
    `with sold as (
       select tariff_id, count(*) as sold from orders
       where order_id >= $2 and status = 'confirmed' and confirmed_at >= $1 group by tariff_id
     )
     select m.code as "operatorCode", m.name_uk as "operatorName", m.name_en as "operatorNameEn", t.code as "tariffCode", t.name as "tariffName",
            t.on_sale and m.status = 'active' as "isOffered", coalesce(s.sold, 0) as sold, (
              select p.imported_at from profiles p where p.tariff_id = t.tariff_id order by p.profile_id desc limit 1
            ) as "importedAt"
     from tariffs t join mobile_operators m using (mobile_operator_id) left join sold s using (tariff_id)`,
    [since, firstOrderId(madeFrom)],
  )
}
