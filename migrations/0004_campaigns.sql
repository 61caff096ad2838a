-- Cashback campaigns: what a merchant offers, which banks take part, and everything that ever moved.

create table campaigns (
  cashback_id uuid primary key,
  merchant_id uuid not null references merchants on delete restrict,
  -- null: the merchant is the author
  created_by_bank_id uuid references banks on delete restrict,
  name text not null,
  description text,
  participation_terms text,
  banner_small text,
  banner_big text,
  sku text[] not null,
  category_id text[] not null,
  all_products boolean not null,
  purchase_online boolean not null,
  purchase_offline boolean not null,
  date_from timestamptz not null,
  date_to timestamptz not null,
  min_amount numeric not null constraint campaigns_min_amount_check check (min_amount >= 0),
  max_amount numeric not null,
  max_budget numeric constraint campaigns_max_budget_check check (max_budget > 0),
  percentage numeric not null constraint campaigns_percentage_check check (percentage between 0 and 100),
  merchant_compensation_percentage numeric not null
    constraint campaigns_merchant_compensation_percentage_check check (merchant_compensation_percentage between 0 and 100),
  merchant_category_code text[],
  country_id uuid not null references countries on delete restrict,
  payment_systems_id uuid[] not null,
  terminals_platform boolean not null,
  -- The campaign's own terminals as the JSON text that readers get: written once, when they change. With terminals_platform the
  -- merchant's list in merchant_terminal_lists is shown in its place.
  terminals text not null,
  terminals_count int not null,
  -- The fields that change only with an edit, as the JSON text that readers get, without its closing brace.
  card text not null,
  status text not null constraint campaigns_status_check check (status in (
    'awaitingBankApproval', 'awaitingMerchantApproval', 'approved', 'active', 'awaitingCompensationConfirmation',
    'awaitingCompensationPayment', 'paymentConfirmed', 'compensationReceived', 'completed', 'declined', 'expired', 'deleted')),
  -- counts every change of the campaign and of its banks: the ETag of its details
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- when the status became compensationReceived, from which the wait until completed counts
  compensation_received_at timestamptz,
  constraint campaigns_period_check check (date_from < date_to),
  constraint campaigns_amounts_check check (min_amount <= max_amount),
  constraint campaigns_received_check check (status <> 'compensationReceived' or compensation_received_at is not null)
);
-- Long texts are read whole and often: neither compressed nor kept in the row.
alter table campaigns alter column card set storage external, alter column terminals set storage external;
-- What falls due by the clock.
create index campaigns_start_index on campaigns (date_from) where status = 'approved';
create index campaigns_end_index on campaigns (date_to) where status in ('awaitingBankApproval', 'awaitingMerchantApproval', 'active');
create index campaigns_complete_index on campaigns (compensation_received_at) where status = 'compensationReceived';

create table campaign_banks (
  cashback_id uuid not null references campaigns on delete restrict,
  bank_id uuid not null references banks on delete restrict,
  status text not null constraint campaign_banks_status_check check (status in ('pending', 'approved', 'declined', 'expired')),
  -- null until the period has ended and while the bank is not approved; the last two are shown as awaitingCompensationConfirmation
  reporting_stage text constraint campaign_banks_reporting_stage_check check (reporting_stage in (
    'awaitingBankReconciliation', 'awaitingMerchantReconciliationConfirmation', 'awaitingUpdatedBankReconciliation',
    'awaitingCompensationConfirmation', 'settled', 'acknowledged')),
  bank_report_uploads int not null default 0,
  merchant_report_uploads int not null default 0,
  -- of the bank's latest report; null before there is one
  expected_compensation numeric,
  -- the campaign's own: the bank's list is read in this order
  created_at timestamptz not null,
  primary key (cashback_id, bank_id),
  constraint campaign_banks_reporting_check check (reporting_stage is null or status = 'approved')
);
create index campaign_banks_list_index on campaign_banks (bank_id, created_at desc, cashback_id);

-- Counts the changes of what a bank sees in its list of campaigns: an unchanged list is told without being read.
create table bank_lists (
  bank_id uuid primary key references banks on delete restrict,
  version bigint not null
);

-- The terminals of each merchant in the platform's directory, as the JSON text that readers get; an apply writes it anew.
create table merchant_terminal_lists (
  merchant_id uuid primary key references merchants on delete restrict,
  terminals text not null,
  terminals_count int not null
);
alter table merchant_terminal_lists alter column terminals set storage external;

-- Every change of state, written by the statement that makes it. Nothing here is ever changed.
create table campaign_history (
  history_id bigint primary key generated always as identity,
  cashback_id uuid not null references campaigns on delete restrict,
  at timestamptz not null,
  actor_type text not null constraint campaign_history_actor_type_check check (actor_type in ('bank', 'retailer', 'platform', 'clock')),
  -- the bank or the merchant
  actor_id uuid,
  -- the portal user's id or the credential's clientId
  actor_subject text,
  subject text not null constraint campaign_history_subject_check check (subject in ('campaign', 'bank', 'reporting')),
  bank_id uuid references banks on delete restrict,
  trigger text not null,
  from_state text,
  to_state text,
  comment text,
  constraint campaign_history_bank_check check ((subject = 'campaign') = (bank_id is null)),
  constraint campaign_history_states_check check (from_state is distinct from to_state)
);
create index campaign_history_index on campaign_history (cashback_id, history_id);
