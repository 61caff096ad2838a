-- The outbox also carries what is no order: events and entries of logs, with their data.

-- Whose it is: `bank`, `merchant` or `platform`. `account` stays null for the platform.
alter table outbox add column account_type text not null default 'bank';
alter table outbox add column data jsonb;
-- Only orders and profiles are named by their ids. A process of the version before adds up whatever it finds here.
alter table outbox alter column subjects set default '{}';
-- After a dump was restored into a younger cluster: the consumers that have not taken the row. Null: everybody takes it.
alter table outbox add column only_for text[];

-- A consumer that keeps the order of changes takes a long backlog in pieces: towards this snapshot, and up to this row of it.
alter table event_ticks add column towards pg_snapshot;
alter table event_ticks add column reached bigint;
