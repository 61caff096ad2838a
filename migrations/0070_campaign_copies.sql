-- Writes the copies, marks and counts of campaigns anew where they are wrong. Earlier versions of `perkline migrate` committed 0028, which
-- filled them, before 0038, whose triggers write them for processes of 0.2. Decisions of such a process between the two left them wrong.
-- Only wrong rows are written. Reads go on meanwhile; changes of campaigns wait.
lock table campaigns, campaign_banks, campaign_counts in exclusive mode;

update campaign_banks b set campaign_status = c.status, date_to = c.date_to from campaigns c
where c.cashback_id = b.cashback_id and (b.campaign_status, b.date_to) is distinct from (c.status, c.date_to);

update campaigns c set awaits_merchant = not awaits_merchant
where awaits_merchant <> (status = 'awaitingCompensationPayment'
  or (created_by_bank_id is null and status in ('awaitingBankApproval', 'awaitingMerchantApproval') and exists (
    select from campaign_banks b where b.cashback_id = c.cashback_id and b.status = 'approved'))
  or (status = 'awaitingCompensationConfirmation' and exists (
    select from campaign_banks b where b.cashback_id = c.cashback_id
      and b.reporting_stage in ('awaitingMerchantReconciliationConfirmation', 'awaitingCompensationConfirmation'))));

insert into campaign_counts (party_id, campaign_status, bank_status, campaigns)
select party_id, campaign_status, bank_status, coalesce(kept, 0)
from campaign_counts full join (
  select merchant_id as party_id, status as campaign_status, '' as bank_status, count(*) as kept from campaigns group by 1, 2
  union all
  select bank_id, campaign_status, status, count(*) from campaign_banks group by 1, 2, 3
) as present using (party_id, campaign_status, bank_status)
where coalesce(campaigns, 0) <> coalesce(kept, 0)
on conflict (party_id, campaign_status, bank_status) do update set campaigns = excluded.campaigns;
