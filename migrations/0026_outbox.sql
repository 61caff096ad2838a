-- Each statement that ends orders also records that in an outbox. Sales figures and stock counters are added up from the outbox, so no
-- figure needs a read of all orders, and no sale waits for the row of a counter.

create sequence outbox_ids;

-- Rows are never changed or deleted, because a long read would keep deleted rows in place, and every other read would have to pass them.
-- A slot is emptied as a whole, two days after it was written. The day alone decides the slot, so no partition has to be created in time
-- for a sale.
create table outbox (
  outbox_id bigint not null default nextval('outbox_ids'),
  -- the number of the day, UTC, modulo 4
  slot smallint not null default (date_part('epoch', now())::bigint / 86400 % 4)::smallint,
  -- the transaction that wrote the row; it decides which snapshots see the row (src/events/position.ts)
  xid xid8 not null default pg_current_xact_id(),
  recorded_at timestamptz not null default now(),
  kind text not null,
  -- the bank that the row is about; null: the row is about the platform alone
  account uuid,
  -- the ids of all orders that one statement ended; a row for each order would take a fifth of the statement's time
  subjects uuid[] not null
) partition by list (slot);
create table outbox_0 partition of outbox for values in (0);
create table outbox_1 partition of outbox for values in (1);
create table outbox_2 partition of outbox for values in (2);
create table outbox_3 partition of outbox for values in (3);
create index outbox_xid_index on outbox (xid);

-- How far each reader of the outbox has read: it has taken all rows that its newest snapshot sees.
create table event_ticks (
  consumer text not null,
  tick_id bigint generated always as identity,
  at timestamptz not null default now(),
  snapshot pg_snapshot not null,
  primary key (consumer, tick_id)
);

-- How many orders ended in each UTC day and each UTC hour. A period in another time zone is the sum of whole UTC days and some hours.
-- Today's rows change every few seconds, so the fill factor leaves room to update them in place.
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

-- How many profiles were ever loaded. Null: the worker has not counted the stock yet that was loaded before this migration.
create table tariff_stock (
  tariff_id int primary key,
  loaded int
);

-- Counts loaded profiles in a trigger, so that imports by a process of the previous version, which may still serve, are counted as well.
create function count_loaded() returns trigger language plpgsql as $$
begin
  insert into tariff_stock (tariff_id, loaded) select tariff_id, count(*) from loaded_now group by tariff_id order by tariff_id
  on conflict (tariff_id) do update set loaded = tariff_stock.loaded + excluded.loaded;
  return null;
end $$;
create trigger profiles_count_loaded after insert on profiles referencing new table as loaded_now
  for each statement execute function count_loaded();

-- This version's statements record the end of an order in the outbox and set `ended_by`. A process of the previous version, which may
-- still serve for a while, does neither. For its orders, these triggers write to the outbox.
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

-- The worker adds the orders made before this migration to the figures, in pieces. `reached` is the highest id that it has added; the
-- highest possible id means that all are added.
create table sales_backfill (
  only_row boolean primary key default true constraint sales_backfill_only_row_check check (only_row),
  reached uuid not null
);
insert into sales_backfill (reached) select case when exists (select from orders)
  then '00000000-0000-0000-0000-000000000000' else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end::uuid;
insert into tariff_stock (tariff_id) select tariff_id from tariffs;
insert into event_ticks (consumer, snapshot) values ('sales', pg_current_snapshot());
