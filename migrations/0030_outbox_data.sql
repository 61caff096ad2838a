-- The outbox also carries rows that are not about orders: events and log entries, with their own data.

-- The type of the account that owns a row: `bank`, `merchant` or `platform`. For the platform, `account` is null.
alter table outbox add column account_type text not null default 'bank';
alter table outbox add column data jsonb;
-- Only rows about orders list ids here. Other rows leave the list empty, because a process of the previous version counts every id in it
-- as an order.
alter table outbox alter column subjects set default '{}';
-- The consumers that still have to take the row, set after a dump was restored into a younger cluster. Null: all consumers take it.
alter table outbox add column only_for text[];

-- A consumer that keeps the order of changes takes a long backlog in pieces. `towards` is the snapshot whose rows it is taking, and
-- `reached` the id of the last row that it has taken.
alter table event_ticks add column towards pg_snapshot;
alter table event_ticks add column reached bigint;
