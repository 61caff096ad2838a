-- The terms of the campaigns that are there, some at a time, so that nobody waits for long. What was written meanwhile stays.
-- No line of the block ends with a semicolon: these statements are applied one by one.
do $$ declare reached uuid := '00000000-0000-0000-0000-000000000000'; begin loop
    with next as (
      select cashback_id, date_from, percentage from campaigns where cashback_id > reached order by cashback_id limit 500
    ), filled as (
      update campaign_banks b set date_from = n.date_from, percentage = n.percentage from next n
      where b.cashback_id = n.cashback_id and b.percentage is null
    )
    select cashback_id into reached from next order by cashback_id desc limit 1; commit; exit when reached is null; end loop; end $$;

-- The lists by status, with all that they are put in order by: reading thousands of campaigns reads the index only.
create index concurrently if not exists campaign_banks_sorted_index
  on campaign_banks (bank_id, campaign_status, status, created_at desc, cashback_id) include (name, date_from, date_to, percentage);
drop index concurrently if exists campaign_banks_named_index;
