-- The daily statement of what a bank owes for its sales, and what an order's history and look-up need besides.

-- Who reserved it, as `ended_by` names callers; the bank's own reference of the payment, as given with the confirm; and when the state
-- of the e-mail was reached. Null for orders of before.
alter table orders
  add column reserved_by text,
  add column payment_reference text,
  add column mail_at timestamptz;

-- What a day is to the bank, and what it keeps of each sale, in per cent. Both are copied onto a statement when it is closed.
alter table banks
  add column esim_time_zone text not null default 'UTC',
  add column esim_commission_percentage numeric(7, 4) not null default 0
    constraint banks_esim_commission_percentage_check check (esim_commission_percentage between 0 and 100);

-- Closed statements. They are never changed and never deleted.
create table statements (
  statement_id uuid primary key,
  bank_id uuid not null,
  -- of the bank, from 1 and without a hole
  number int not null constraint statements_number_check check (number >= 1),
  -- the local date of its last instant
  day date not null,
  time_zone text not null,
  -- half-open; the next one of the bank begins where this one ends
  from_at timestamptz not null,
  to_at timestamptz not null,
  closed_at timestamptz not null,
  previous_statement_id uuid,
  commission_percentage numeric(7, 4) not null,
  -- as readers get them
  totals json not null,
  by_tariff json not null,
  lines int not null,
  late int not null,
  sha256 bytea not null,
  constraint statements_bank_number_key unique (bank_id, number),
  constraint statements_bank_day_key unique (bank_id, day),
  constraint statements_span_check check (from_at < to_at)
);

-- One line for each sale, made when the outbox tells of it. It is open until a statement takes it.
create table statement_lines (
  order_id uuid primary key,
  bank_id uuid not null,
  statement_id uuid,
  line int,
  external_id text collate "C" not null,
  payment_reference text,
  tariff_id int not null,
  -- as it was when the line was made
  tariff_name text not null,
  confirmed_at timestamptz not null,
  currency text not null,
  amount numeric(12, 2) not null,
  constraint statement_lines_closed_check check ((statement_id is null) = (line is null))
);
create index statement_lines_open_index on statement_lines (bank_id, confirmed_at, order_id) where statement_id is null;
create unique index statement_lines_place_key on statement_lines (statement_id, line) where statement_id is not null;

-- The file of a statement, in pieces: the same bytes at every download.
create table statement_files (
  statement_id uuid not null,
  piece int not null,
  bytes bytea not null,
  primary key (statement_id, piece)
);
alter table statement_files alter column bytes set storage external;

-- Orders up to here have their lines; the worker makes those of before in pieces. The highest id: all have.
create table statement_backfill (
  only_row boolean primary key default true constraint statement_backfill_only_row_check check (only_row),
  reached uuid not null
);
insert into statement_backfill (reached) select case when exists (select from orders)
  then '00000000-0000-0000-0000-000000000000' else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end::uuid;
insert into event_ticks (consumer, snapshot) values ('statements', pg_current_snapshot());
