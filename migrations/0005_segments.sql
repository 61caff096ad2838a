-- Which customer belongs to which bank, and the segments of customers that merchants form for their campaigns.

-- No foreign key to banks: a load of a million customers would look its one bank up a million times. A bank's row is never deleted,
-- and the audit checks that each one is there.
create table customers (
  customer_id text collate "C" primary key
    constraint customers_customer_id_check check (length(customer_id) between 1 and 128),
  bank_id uuid not null
);

-- Each bank's part of what a merchant uploaded; it goes when the bank is no longer invited.
create table campaign_segments (
  cashback_id uuid not null,
  bank_id uuid not null,
  -- one for each bank and upload: two banks have nothing by which to put their parts together
  segment_id uuid not null constraint campaign_segments_segment_id_key unique,
  customers_count int not null constraint campaign_segments_customers_count_check check (customers_count >= 0),
  -- the ids as the JSON array text that the bank gets, in the order of the file
  customer_ids text not null,
  formed_at timestamptz not null,
  source_file_name text not null,
  primary key (cashback_id, bank_id),
  constraint campaign_segments_bank_fkey foreign key (cashback_id, bank_id) references campaign_banks on delete cascade
);
-- Read whole and often: neither compressed nor kept in the row.
alter table campaign_segments alter column customer_ids set storage external;
