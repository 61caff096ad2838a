-- The index of a bank's campaigns by time also contains what lists are filtered and sorted by. A search or a sort then reads the newest
-- thousands of campaigns from this index alone, in their order.
create index concurrently if not exists campaign_banks_newest_index
  on campaign_banks (bank_id, created_at desc, cashback_id) include (campaign_status, status, name, date_from, date_to, percentage);
drop index concurrently if exists campaign_banks_list_index;
