-- Copies the beginning and the percentage of existing campaigns, 500 at a time, so that nobody waits for long. Copies that were written
-- meanwhile are kept.
-- No line inside the block may end with a semicolon, because this file is split into its statements at the ends of such lines.
do $$ declare reached uuid := '00000000-0000-0000-0000-000000000000'; begin loop
    with next as (
      select cashback_id, date_from, percentage from campaigns where cashback_id > reached order by cashback_id limit 500
    ), filled as (
      update campaign_banks b set date_from = n.date_from, percentage = n.percentage from next n
      where b.cashback_id = n.cashback_id and b.percentage is null
    )
    select cashback_id into reached from next order by cashback_id desc limit 1; commit; exit when reached is null; end loop; end $$;

-- An index for the lists by status that contains every column that they are sorted by, so that sorting thousands of campaigns reads only
-- the index.
create index concurrently if not exists campaign_banks_sorted_index
  on campaign_banks (bank_id, campaign_status, status, created_at desc, cashback_id) include (name, date_from, date_to, percentage);
drop index concurrently if exists campaign_banks_named_index;
