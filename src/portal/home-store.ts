/** All SQL of what waits for somebody. */
import type { BankStatus, CampaignState, CampaignStatus } from '../campaigns/lifecycle.ts'
import type { Queryable } from '../db/database.ts'

export type Party = { type: 'bank'; bankId: string } | { type: 'retailer'; merchantId: string }

export type OpenCampaign = Omit<CampaignState, 'banks'> & {
  name: string
  merchantName: string
  banks: (CampaignState['banks'][number] & { name: string })[]
}

/** The states in which somebody can do something. */
const openStatuses: readonly CampaignStatus[] = [
  'awaitingBankApproval',
  'awaitingMerchantApproval',
  'awaitingCompensationConfirmation',
  'awaitingCompensationPayment',
  'paymentConfirmed',
]

const ownOf = (party: Party): { condition: string; id: string } =>
  party.type === 'bank'
    ? {
        condition: 'exists (select from campaign_banks o where o.cashback_id = c.cashback_id and o.bank_id = $1)',
        id: party.bankId,
      }
    : { condition: 'c.merchant_id = $1', id: party.merchantId }

/** Campaigns of a partner in which something may wait, those first that end first. */
export function findOpenCampaigns(database: Queryable, party: Party, limit: number): Promise<OpenCampaign[]> {
  const { condition, id } = ownOf(party)
  return database.query<OpenCampaign>(
    `select c.cashback_id as "cashbackId", c.merchant_id as "merchantId", m.name as "merchantName",
            c.created_by_bank_id as "createdByBankId", c.name, c.status, c.date_from as "dateFrom", c.date_to as "dateTo",
            c.merchant_compensation_percentage > 0 as "merchantPays", (
              select coalesce(json_agg(json_build_object('bankId', i.bank_id, 'name', b.name, 'status', i.status,
                'stage', i.reporting_stage) order by b.name collate "C", b.bank_id), '[]')
              from campaign_banks i join banks b using (bank_id) where i.cashback_id = c.cashback_id
            ) as banks
     from campaigns c join merchants m using (merchant_id)
     where ${condition} and c.status = any($2) order by c.date_to, c.cashback_id limit $3`,
    [id, openStatuses, limit],
  )
}

/** How many campaigns a partner has in each status; those that it has none in are left out. */
export function countByStatus(
  database: Queryable,
  party: Party,
): Promise<{ status: CampaignStatus; bankStatus: BankStatus | null; count: number }[]> {
  return party.type === 'bank'
    ? database.query(
        `select c.status, i.status as "bankStatus", count(*) from campaign_banks i join campaigns c using (cashback_id)
         where i.bank_id = $1 group by 1, 2`,
        [party.bankId],
      )
    : database.query(
        `select status, null as "bankStatus", count(*) from campaigns where merchant_id = $1 group by status`,
        [party.merchantId],
      )
}
