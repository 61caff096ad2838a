-- What lists and home pages of campaigns are read from, so that a page costs what it shows, however many campaigns there are.

-- Of the campaign itself: a bank's list is filtered and put in order without a look at each campaign. Whoever changes a campaign
-- writes them too, and the audit compares both.
drop index campaign_banks_open_index, campaign_banks_list_index;
alter table campaign_banks add column campaign_status text, add column date_to timestamptz;
update campaign_banks b set campaign_status = c.status, date_to = c.date_to from campaigns c where c.cashback_id = b.cashback_id;
alter table campaign_banks
  alter column campaign_status set not null,
  alter column date_to set not null,
  -- Whether it is likely the bank's turn; null: nobody can do anything. What can be done is the lifecycle's decision.
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

-- Whether it is likely the merchant's turn, written by whoever changes the campaign or one of its banks.
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
-- Open campaigns that banks have created at the merchant's cost.
create index campaigns_imposed_index on campaigns (merchant_id, date_to, cashback_id)
  where created_by_bank_id is not null and merchant_compensation_percentage > 0
    and status in ('awaitingBankApproval', 'approved', 'active');

-- The operator's list, of all merchants or of one; the latter also finds what awaits banks.
create index campaigns_changed_index on campaigns (status, updated_at desc, cashback_id);
create index campaigns_merchant_changed_index on campaigns (merchant_id, status, updated_at desc, cashback_id);
drop index campaigns_pending_index;

-- How many campaigns a merchant or a bank has in each status, of a bank also by its own status; this is empty for a merchant. Written
-- with each change while the lists of the same merchant and banks are locked anyway, so that nobody waits for it alone.
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

-- Entries of the history are written beside rows of campaigns and banks that are there and never go, and the audit compares them. To
-- ask for both again with each entry took half of the time in which many campaigns end.
alter table campaign_history
  drop constraint campaign_history_cashback_id_fkey,
  drop constraint campaign_history_bank_id_fkey;
