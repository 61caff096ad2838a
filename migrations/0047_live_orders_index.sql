-- The unique index on the profiles of live orders also contains the columns that the audit checks. So the audit reads only the index, and
-- not the orders' rows, which are scattered over the table. While the index is replaced, the old or the new one always exists, so no
-- profile can be sold twice.
create unique index concurrently if not exists orders_live_profile_new_key on orders (profile_id) include (tariff_id, status)
  where status in ('reserved', 'confirmed', 'withdrawn');
drop index concurrently if exists orders_live_profile_key;
alter index if exists orders_live_profile_new_key rename to orders_live_profile_key;
