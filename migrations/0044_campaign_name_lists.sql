-- Copies the names of existing campaigns, 500 at a time, so that nobody waits for long. A copy that was written meanwhile is kept.
-- No line inside the block may end with a semicolon, because this file is split into its statements at the ends of such lines.
do $$ declare reached uuid := '00000000-0000-0000-0000-000000000000'; begin loop
    with next as (
      select cashback_id, name from campaigns where cashback_id > reached order by cashback_id limit 500
    ), named as (
      update campaign_banks b set name = n.name from next n where b.cashback_id = n.cashback_id and b.name is null
    )
    select cashback_id into reached from next order by cashback_id desc limit 1; commit; exit when reached is null; end loop; end $$;

-- Indexes for the lists by status that also contain the name, so that a search for a name among thousands reads only the index.
create index concurrently if not exists campaign_banks_named_index
  on campaign_banks (bank_id, campaign_status, status, created_at desc, cashback_id) include (name);
drop index concurrently if exists campaign_banks_states_index;
create index concurrently if not exists campaigns_named_index on campaigns (status, updated_at desc, cashback_id) include (name);
drop index concurrently if exists campaigns_changed_index;
create index concurrently if not exists campaigns_merchant_named_index
  on campaigns (merchant_id, status, updated_at desc, cashback_id) include (name);
drop index concurrently if exists campaigns_merchant_changed_index;
