-- Daily statements of what a bank owes for its sales. Also the columns that the history and the look-up of an order need.

-- `reserved_by`: the caller who reserved the order, in the same form as `ended_by`. `payment_reference`: the bank's own reference of the
-- payment, sent with the confirmation. `mail_at`: when the e-mail reached its present state. All are null for older orders.
alter table orders
  add column reserved_by text,
  add column payment_reference text,
  add column mail_at timestamptz;

-- The time zone in which the bank's days are counted, and the percentage of each sale that the bank keeps as its commission. Both are
-- copied to a statement when it is closed.
alter table banks
  add column esim_time_zone text not null default 'UTC',
  add column esim_commission_percentage numeric(7, 4) not null default 0
    constraint banks_esim_commission_percentage_check check (esim_commission_percentage between 0 and 100);

-- Closed statements. They are never changed and never deleted.
create table statements (
  statement_id uuid primary key,
  bank_id uuid not null,
  -- numbers the bank's statements from 1 without a gap
  number int not null constraint statements_number_check check (number >= 1),
  -- the local date of the statement's last instant
  day date not null,
  time_zone text not null,
  -- the statement's period, half-open; the bank's next statement begins at `to_at`
  from_at timestamptz not null,
  to_at timestamptz not null,
  closed_at timestamptz not null,
  previous_statement_id uuid,
  commission_percentage numeric(7, 4) not null,
  -- `totals` and `by_tariff` are stored as the API returns them
  totals json not null,
  by_tariff json not null,
  lines int not null,
  late int not null,
  sha256 bytea not null,
  constraint statements_bank_number_key unique (bank_id, number),
  constraint statements_bank_day_key unique (bank_id, day),
  constraint statements_span_check check (from_at < to_at)
);

-- One line for each sale, made when the sale's row is taken from the outbox. The line is open until a statement includes it.
create table statement_lines (
  order_id uuid primary key,
  bank_id uuid not null,
  statement_id uuid,
  line int,
  external_id text collate "C" not null,
  payment_reference text,
  tariff_id int not null,
  -- the tariff's name when the line was made
  tariff_name text not null,
  confirmed_at timestamptz not null,
  currency text not null,
  amount numeric(12, 2) not null,
  constraint statement_lines_closed_check check ((statement_id is null) = (line is null))
);
create index statement_lines_open_index on statement_lines (bank_id, confirmed_at, order_id) where statement_id is null;
create unique index statement_lines_place_key on statement_lines (statement_id, line) where statement_id is not null;

-- The file of each statement, stored in pieces, so that every download gets the same bytes.
create table statement_files (
  statement_id uuid not null,
  piece int not null,
  bytes bytea not null,
  primary key (statement_id, piece)
);
alter table statement_files alter column bytes set storage external;

-- The worker makes lines for the orders sold before this migration, in pieces. `reached` is the highest order id that it has reached; the
-- highest possible id means that all lines are made.
create table statement_backfill (
  only_row boolean primary key default true constraint statement_backfill_only_row_check check (only_row),
  reached uuid not null
);
insert into statement_backfill (reached) select case when exists (select from orders)
  then '00000000-0000-0000-0000-000000000000' else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end::uuid;
insert into event_ticks (consumer, snapshot) values ('statements', pg_current_snapshot());
