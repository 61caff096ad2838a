-- What a merchant's list of its campaigns is read from, page by page, however many there are.

-- Counts the changes of a merchant's campaigns, so that a process sees with one cheap read whether the order that it remembers still
-- holds.
create table merchant_lists (
  merchant_id uuid primary key references merchants on delete restrict,
  -- a campaign was added, or its status or terms have changed
  arranged bigint not null,
  -- any campaign has changed in any way: its updatedAt is another one
  touched bigint not null
);
insert into merchant_lists (merchant_id, arranged, touched) select distinct merchant_id, 1, 1 from campaigns;

-- All that a list is filtered and sorted by is in the index, so that a hundred thousand wide rows need not be read. Without updated_at,
-- with which every decision of a bank would write to every index.
create index campaigns_list_index on campaigns (merchant_id, created_at, cashback_id)
  include (name, status, date_from, date_to, percentage);
create index campaigns_sku_index on campaigns using gin (sku);
