-- Reconciliation: the reports of banks and merchants, kept byte for byte, and in what they differ from the terms and from each other.

create table reports (
  report_id uuid primary key,
  cashback_id uuid not null,
  bank_id uuid not null,
  -- who uploaded it
  side text not null constraint reports_side_check check (side in ('bank', 'merchant')),
  -- counts the reports of its side, from 1
  version int not null constraint reports_version_check check (version >= 1),
  file_name text not null,
  size_bytes bigint not null constraint reports_size_bytes_check check (size_bytes >= 0),
  lines int not null constraint reports_lines_check check (lines >= 0),
  total_amount numeric not null,
  -- of the lines that name a cashback
  total_cashback numeric not null,
  uploaded_at timestamptz not null,
  actor_type text not null constraint reports_actor_type_check check (actor_type in ('bank', 'retailer')),
  actor_id uuid not null,
  -- the portal user's id or the credential's clientId
  actor_subject text not null,
  comment text,
  -- how many of its lines break each term, by the kinds that there are
  broken_terms jsonb not null,
  constraint reports_version_key unique (cashback_id, bank_id, side, version),
  constraint reports_bank_fkey foreign key (cashback_id, bank_id) references campaign_banks on delete restrict,
  constraint reports_actor_check check ((side = 'bank') = (actor_type = 'bank'))
);

-- The file as it was sent, in pieces that are written as they come: the report's own row is written when all have come.
create table report_chunks (
  report_id uuid not null constraint report_chunks_report_fkey references reports on delete restrict deferrable initially deferred,
  chunk int not null,
  bytes bytea not null,
  primary key (report_id, chunk)
);
-- Read whole, and its pieces one by one: compressing costs more than it gives.
alter table report_chunks alter column bytes set storage external;

-- The lines of the latest report of each side; those of older ones go, as their files stay. No foreign key: a million lines would
-- look their one report up a million times, and the transaction that writes them writes the report.
create table report_lines (
  report_id uuid not null,
  -- of the file, 1 being its header
  line int not null,
  transaction_id text collate "C" not null,
  terminal_id text collate "C" not null,
  transaction_at timestamptz not null,
  amount numeric(12, 2) not null constraint report_lines_amount_check check (amount >= 0),
  -- null: a merchant's report may leave it out
  cashback_amount numeric(12, 2) constraint report_lines_cashback_amount_check check (cashback_amount >= 0),
  primary key (report_id, line)
);

-- In the order in which the differences of one line are told.
create type difference_kind as enum (
  'outside-period', 'unknown-terminal', 'amount-out-of-range', 'wrong-cashback', 'repeated-transaction', 'budget-exceeded',
  'amount-differs', 'only-in-bank-report', 'only-in-merchant-report');

-- Which two reports of a bank's part in a campaign are held against each other: the latest of each side.
create table reconciliations (
  cashback_id uuid not null,
  bank_id uuid not null,
  bank_report_id uuid not null references reports on delete restrict,
  merchant_report_id uuid references reports on delete restrict,
  -- transactions that both reports name with the same amount; null while there is no merchant's report
  matched int,
  -- how many of the others there are, by the kinds that there are
  unmatched jsonb not null,
  primary key (cashback_id, bank_id),
  constraint reconciliations_bank_fkey foreign key (cashback_id, bank_id) references campaign_banks on delete restrict,
  constraint reconciliations_matched_check check ((matched is null) = (merchant_report_id is null))
);

-- Found by the upload of a report: what its own lines break, and in what it differs from the other side's. No foreign key, as with
-- the lines: there may be millions.
create table report_differences (
  report_id uuid not null,
  -- the order in which they are told: by the line of the bank's report, then by that of the merchant's
  place bigint not null,
  kind difference_kind not null,
  bank_line int,
  merchant_line int,
  transaction_id text collate "C" not null,
  -- what the terms or the merchant's report say, and what stands in the line
  expected text,
  found text,
  primary key (report_id, place),
  constraint report_differences_line_check check (bank_line is not null or merchant_line is not null)
);
