-- Indexes for each way of searching a bank's orders, so that a page reads only the orders that it shows. An order's id begins with the
-- time at which the order was made, so these indexes are sorted by time. The few open reservations have an index of their own, so an
-- order is added to the other indexes only once, when it ends.
create index concurrently if not exists orders_bank_status_index on orders (bank_id, status, order_id)
  where status in ('confirmed', 'cancelled', 'expired');
create index concurrently if not exists orders_bank_tariff_index on orders (bank_id, tariff_id, status, order_id)
  where status in ('confirmed', 'cancelled', 'expired');
create index concurrently if not exists orders_bank_confirmed_index on orders (bank_id, confirmed_at, order_id)
  where status = 'confirmed';
-- This index also serves to count a bank's open reservations, so the old one, sorted by `reserved_until`, is not needed any more.
create index concurrently if not exists orders_bank_reserved_index on orders (bank_id, order_id) where status = 'reserved';
drop index concurrently if exists orders_open_reservations_index;

-- By default, autovacuum starts only when a tenth or a fifth of a table has changed. With twenty million orders, that takes days. Until
-- then, the planner uses outdated statistics, dead rows stay in place, and new pages are not marked as visible to all.
alter table orders set (
  autovacuum_analyze_scale_factor = 0.005, autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 10000);
alter table profiles set (
  autovacuum_analyze_scale_factor = 0.01, autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
-- A row is deleted when its profile is reserved again, so the rows of this table are replaced all the time.
alter table returned_profiles set (
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
