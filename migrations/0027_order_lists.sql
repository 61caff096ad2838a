-- A bank's orders by what people and programs look for, so that a page costs what it shows. An order's id begins with the instant at
-- which it was made: these are lists by time. Reservations that are open are few, and have an index of their own: a sale then pays for
-- the others once, when it ends.
create index concurrently if not exists orders_bank_status_index on orders (bank_id, status, order_id)
  where status in ('confirmed', 'cancelled', 'expired');
create index concurrently if not exists orders_bank_tariff_index on orders (bank_id, tariff_id, status, order_id)
  where status in ('confirmed', 'cancelled', 'expired');
create index concurrently if not exists orders_bank_confirmed_index on orders (bank_id, confirmed_at, order_id)
  where status = 'confirmed';
-- It counts a bank's open reservations as well as the one by their end did.
create index concurrently if not exists orders_bank_reserved_index on orders (bank_id, order_id) where status = 'reserved';
drop index concurrently if exists orders_open_reservations_index;

-- The defaults wait for a tenth or a fifth of a table to change: of twenty million orders, for days. Meanwhile the planner believes in
-- figures of long ago, and what is dead or new stays unmarked.
alter table orders set (
  autovacuum_analyze_scale_factor = 0.005, autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 10000);
alter table profiles set (
  autovacuum_analyze_scale_factor = 0.01, autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
-- Each row lives until its profile is sold again.
alter table returned_profiles set (
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
