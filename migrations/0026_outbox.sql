-- What happens to orders is told in an outbox, by the statement that changes them. Sales figures and stock counters are added up from
-- there: no figure walks over all orders, and no sale waits for the row of a counter.

create sequence outbox_ids;

-- Rows are never changed or deleted: what a long read keeps of deleted rows would be walked over by every look. A slot is emptied as a
-- whole, two days after it was written. Which slot is a matter of the day alone, so none has to be made in time for a sale.
create table outbox (
  outbox_id bigint not null default nextval('outbox_ids'),
  -- the number of the day, UTC, modulo 4
  slot smallint not null default (date_part('epoch', now())::bigint / 86400 % 4)::smallint,
  -- says which snapshots see the row: src/events/position.ts
  xid xid8 not null default pg_current_xact_id(),
  recorded_at timestamptz not null default now(),
  kind text not null,
  -- the bank that it is about; null: the platform alone
  account uuid,
  -- of one statement: a row for each order would cost a fifth of it
  subjects uuid[] not null
) partition by list (slot);
create table outbox_0 partition of outbox for values in (0);
create table outbox_1 partition of outbox for values in (1);
create table outbox_2 partition of outbox for values in (2);
create table outbox_3 partition of outbox for values in (3);
create index outbox_xid_index on outbox (xid);

-- How far each reader of the outbox has come: it has seen what its newest snapshot sees.
create table event_ticks (
  consumer text not null,
  tick_id bigint generated always as identity,
  at timestamptz not null default now(),
  snapshot pg_snapshot not null,
  primary key (consumer, tick_id)
);

-- Orders that came to their end, by day and by hour (UTC) of the end: a day of any time zone is whole days and some hours.
-- The rows of today change every few seconds: they get room to be changed in place.
create table sales_days (
  day date not null,
  bank_id uuid not null,
  tariff_id int not null,
  currency text not null,
  price numeric(12, 2) not null,
  outcome text not null,
  orders int not null,
  primary key (day, bank_id, tariff_id, currency, price, outcome)
) with (fillfactor = 70);
create table sales_hours (
  hour timestamptz not null,
  bank_id uuid not null,
  tariff_id int not null,
  currency text not null,
  price numeric(12, 2) not null,
  outcome text not null,
  orders int not null,
  primary key (hour, bank_id, tariff_id, currency, price, outcome)
) with (fillfactor = 70);
create table tariff_sales (
  tariff_id int primary key,
  sold int not null,
  withdrawn int not null
) with (fillfactor = 50);

-- Profiles that were ever loaded; null: not counted yet, which the worker does once for stock of before.
create table tariff_stock (
  tariff_id int primary key,
  loaded int
);

-- A trigger, and not a part of the import's statement, so that a process of the version before that still serves counts as well.
create function count_loaded() returns trigger language plpgsql as $$
begin
  insert into tariff_stock (tariff_id, loaded) select tariff_id, count(*) from loaded_now group by tariff_id order by tariff_id
  on conflict (tariff_id) do update set loaded = tariff_stock.loaded + excluded.loaded;
  return null;
end $$;
create trigger profiles_count_loaded after insert on profiles referencing new table as loaded_now
  for each statement execute function count_loaded();

-- Who ends an order tells of it and writes `ended_by`. A process of the version before does neither, and may serve for a while yet:
-- it is told for it.
create function tell_untold() returns trigger language plpgsql as $$
begin
  insert into outbox (kind, account, subjects)
  values (case new.status when 'withdrawn' then 'profile.withdrawn' else 'order.' || new.status end, new.bank_id, array[new.order_id]);
  return null;
end $$;
create trigger orders_tell_untold_end after update on orders for each row
  when (new.status <> old.status and new.ended_by is null) execute function tell_untold();
create trigger orders_tell_untold after insert on orders for each row
  when (new.status <> 'reserved' and new.ended_by is null) execute function tell_untold();

-- Orders up to here are in the figures; the worker adds those of before in pieces. The highest id: all are.
create table sales_backfill (
  only_row boolean primary key default true constraint sales_backfill_only_row_check check (only_row),
  reached uuid not null
);
insert into sales_backfill (reached) select case when exists (select from orders)
  then '00000000-0000-0000-0000-000000000000' else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end::uuid;
insert into tariff_stock (tariff_id) select tariff_id from tariffs;
insert into event_ticks (consumer, snapshot) values ('sales', pg_current_snapshot());
