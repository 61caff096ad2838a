-- A delivery is written when it is made, when it is claimed and when it has ended. With half of each page left free, the claim finds
-- room beside the row that it replaces, so it writes no index. This sets it for the partitions that exist from today on, and
-- `events/sequence-store.ts` sets it for later ones. Nothing is rewritten, and reads and writes go on meanwhile.
do $$ declare partition regclass; begin
  for partition in
    select inhrelid::regclass from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'webhook_deliveries'::regclass and relname >= 'webhook_deliveries_' || to_char(now() at time zone 'UTC', 'YYYYMMDD')
  loop execute format('alter table %s set (fillfactor = 50)', partition); end loop;
end $$;
