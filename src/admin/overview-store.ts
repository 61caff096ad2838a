/** SQL of the overview of the whole platform. `esim/sold/figures-store.ts` counts the orders in the overview. */
import type { CampaignStatus } from '../campaigns/lifecycle/transitions.ts'
import type { Queryable } from '../db/database.ts'
import { countMadeSince } from '../esim/sold/figures-store.ts'

export type Overview = {
  banks: { active: number; suspended: number }
  merchants: { active: number; suspended: number }
  mobileOperators: { active: number; others: number }
  tariffs: { onSale: number; others: number }
  users: number
  credentials: number
  customers: number
  campaigns: { status: CampaignStatus; count: number }[]
  /** The orders made since the requested instant. */
  orders: { reserved: number; confirmed: number; cancelled: number; expired: number }
}

const byStatus = (table: string) => `
  (select json_build_object('active', count(*) filter (where status = 'active'),
    'suspended', count(*) filter (where status <> 'active')) from ${table})`

/** @param input.ordersSince counts only orders made since this instant */
export async function readOverview(database: Queryable, input: { now: Date; ordersSince: Date }): Promise<Overview> {
  const orders = await countMadeSince(database, input.ordersSince, input.now)
  const [overview] = await database.query<Omit<Overview, 'orders'>>(
    `select ${byStatus('banks')} as banks, ${byStatus('merchants')} as merchants,
       (select json_build_object('active', count(*) filter (where status = 'active'),
          'others', count(*) filter (where status <> 'active')) from mobile_operators) as "mobileOperators",
       (select json_build_object('onSale', count(*) filter (where on_sale), 'others', count(*) filter (where not on_sale))
        from tariffs) as tariffs,
       (select count(*) from portal_users where disabled_at is null) as users,
       (select count(*) from credentials where revoked_at is null) as credentials,
       (select coalesce(sum(customers), 0)::bigint from customer_counts) as customers,
       (select coalesce(json_agg(json_build_object('status', status, 'count', count)), '[]')
        from (
          select campaign_status as status, sum(campaigns)::bigint as count from campaign_counts where bank_status = '' group by 1
        ) c) as campaigns`,
  )
  if (!overview) throw new Error('A select without a table has one row')
  return { ...overview, orders }
}
