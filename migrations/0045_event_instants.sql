-- The earliest timestamp of the account's events of that day. Null: a process of a previous version recorded them, so it can be any time.
alter table feed_days add column earliest timestamptz;
