-- What the audit asks of each live order is in the index that finds it by its profile: so it reads no orders in the order of their
-- profiles, which lie all over the table. Nothing is sold twice meanwhile: one of both indexes is always there.
create unique index concurrently if not exists orders_live_profile_new_key on orders (profile_id) include (tariff_id, status)
  where status in ('reserved', 'confirmed', 'withdrawn');
drop index concurrently if exists orders_live_profile_key;
alter index if exists orders_live_profile_new_key rename to orders_live_profile_key;
