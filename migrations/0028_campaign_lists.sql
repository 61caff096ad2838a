-- Columns, indexes and counts for the lists and home pages of campaigns. With them, a page reads only the campaigns that it shows, even if
-- there are very many.

-- Each bank's row holds a copy of the campaign's status and end, so that a bank's list is filtered and sorted without reading the
-- campaigns. Every statement that changes a campaign also writes the copies, and the audit compares them.
drop index campaign_banks_open_index, campaign_banks_list_index;
alter table campaign_banks add column campaign_status text, add column date_to timestamptz;
update campaign_banks b set campaign_status = c.status, date_to = c.date_to from campaigns c where c.cashback_id = b.cashback_id;
alter table campaign_banks
  alter column campaign_status set not null,
  alter column date_to set not null,
  -- Whether the bank probably has to act next; null: nobody can act. It serves lists only: the lifecycle decides what a bank may do.
  add column awaits_bank boolean generated always as (
    case when status in ('pending', 'approved') and reporting_stage is distinct from 'acknowledged' and campaign_status in (
      'awaitingBankApproval', 'awaitingMerchantApproval', 'awaitingCompensationConfirmation', 'awaitingCompensationPayment',
      'paymentConfirmed')
    then status = 'pending' or coalesce(reporting_stage, '') in ('awaitingBankReconciliation', 'awaitingUpdatedBankReconciliation')
      or (coalesce(reporting_stage, '') = 'settled' and campaign_status = 'paymentConfirmed') end
  ) stored;
create index campaign_banks_list_index on campaign_banks (bank_id, created_at desc, cashback_id);
create index campaign_banks_states_index on campaign_banks (bank_id, campaign_status, status, created_at desc, cashback_id);
create index campaign_banks_turn_index on campaign_banks (bank_id, awaits_bank desc, date_to, cashback_id)
  where awaits_bank is not null;

-- Whether the merchant probably has to act next. Every statement that changes the campaign or one of its banks writes this column.
alter table campaigns add column awaits_merchant boolean not null default false;
update campaigns c set awaits_merchant = true
where status = 'awaitingCompensationPayment'
  or (created_by_bank_id is null and status in ('awaitingBankApproval', 'awaitingMerchantApproval') and exists (
    select from campaign_banks b where b.cashback_id = c.cashback_id and b.status = 'approved'))
  or (status = 'awaitingCompensationConfirmation' and exists (
    select from campaign_banks b where b.cashback_id = c.cashback_id
      and b.reporting_stage in ('awaitingMerchantReconciliationConfirmation', 'awaitingCompensationConfirmation')));
drop index campaigns_open_index;
create index campaigns_turn_index on campaigns (merchant_id, awaits_merchant desc, date_to, cashback_id) where status in (
  'awaitingBankApproval', 'awaitingMerchantApproval', 'awaitingCompensationConfirmation', 'awaitingCompensationPayment',
  'paymentConfirmed');
-- Finds open campaigns that were created by a bank and cost the merchant money.
create index campaigns_imposed_index on campaigns (merchant_id, date_to, cashback_id)
  where created_by_bank_id is not null and merchant_compensation_percentage > 0
    and status in ('awaitingBankApproval', 'approved', 'active');

-- Indexes for the operator's lists of all campaigns and of one merchant's campaigns. The second one also finds a merchant's campaigns that
-- wait for banks.
create index campaigns_changed_index on campaigns (status, updated_at desc, cashback_id);
create index campaigns_merchant_changed_index on campaigns (merchant_id, status, updated_at desc, cashback_id);
drop index campaigns_pending_index;

-- How many campaigns each party (a merchant or a bank) has in each status. A bank's campaigns are also counted by the bank's own status,
-- and a merchant's rows have an empty `bank_status`. Each change writes the counts while it holds the locks on the lists of the same
-- merchant and banks, so nobody waits for the counts alone.
create table campaign_counts (
  party_id uuid not null,
  campaign_status text not null,
  bank_status text not null,
  campaigns bigint not null,
  primary key (party_id, campaign_status, bank_status)
) with (fillfactor = 50);
insert into campaign_counts (party_id, campaign_status, bank_status, campaigns)
select merchant_id, status, '', count(*) from campaigns group by 1, 2
union all
select bank_id, campaign_status, status, count(*) from campaign_banks group by 1, 2, 3;

-- A history entry is written together with its campaign's row, rows of campaigns and banks are never deleted, and the audit compares
-- entries with them. Checking both foreign keys for each entry took half of the time when many campaigns ended at once.
alter table campaign_history
  drop constraint campaign_history_cashback_id_fkey,
  drop constraint campaign_history_bank_id_fkey;
