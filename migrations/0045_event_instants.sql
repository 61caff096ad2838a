-- The lowest timestamp of the account's events of the day; null: recorded by a version before, so it may be any.
alter table feed_days add column earliest timestamptz;
