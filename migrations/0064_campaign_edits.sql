-- How often a campaign was edited on the last day on which it was, by real time in UTC.
create table if not exists campaign_edits (
  cashback_id uuid primary key,
  day date not null,
  edits int not null
);

-- A bank reads the entries about the campaign itself and those about its own part, without those about other banks.
create index concurrently if not exists campaign_history_bank_index on campaign_history (cashback_id, bank_id, history_id);
