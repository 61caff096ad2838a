-- Events: one numbered feed for each account, without a hole.

-- Version 7, of a given time, so that an id alone tells its day.
create function uuid_at(at timestamptz) returns uuid volatile parallel safe language sql as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- The platform's account has no id of its own.
create table feeds (
  account_type text not null,
  account_id uuid not null,
  feed_id uuid not null default gen_random_uuid(),
  -- the last event that is stored no more
  removed_through bigint not null default 0,
  primary key (account_type, account_id)
);
create function open_feed() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'banks' then insert into feeds (account_type, account_id) values ('bank', new.bank_id);
  else insert into feeds (account_type, account_id) values ('retailer', new.merchant_id); end if;
  return null;
end $$;
create trigger banks_open_feed after insert on banks for each row execute function open_feed();
create trigger merchants_open_feed after insert on merchants for each row execute function open_feed();
insert into feeds (account_type, account_id)
select 'bank', bank_id from banks union all select 'retailer', merchant_id from merchants
union all select 'platform', '00000000-0000-0000-0000-000000000000';

-- Which day of an account a sequence is of.
create table feed_days (
  account_type text not null,
  account_id uuid not null,
  day date not null,
  first_sequence bigint not null,
  primary key (account_type, account_id, day)
);

-- By the UTC day of the recording; the tick makes the partitions ahead. Rows are never changed, and go with their day.
create table events (
  account_type text not null,
  account_id uuid not null,
  sequence bigint not null,
  day date not null,
  event_id uuid not null,
  type text not null,
  recorded_at timestamptz not null,
  -- the event as readers get it, in the feed and at endpoints
  body text not null
) partition by range (day);
create unique index events_sequence_key on events (account_type, account_id, sequence, day);
create unique index events_event_id_key on events (event_id, day);

insert into event_ticks (consumer, snapshot) values ('events', pg_current_snapshot());

-- How far a job has come that tells of what time brings about.
create table event_positions (
  name text primary key,
  reached timestamptz not null
);
insert into event_positions (name, reached)
select 'order.expiring', now() + offset_ms * interval '1 millisecond' + interval '5 minutes' from sandbox_clock
union all select 'credential.overlap_ending', now() + interval '1 hour';

-- When the secret before was replaced; null: by a process of the version before.
alter table credentials add column previous_replaced_at timestamptz;
create index credentials_previous_valid_until_index on credentials (previous_valid_until);

-- What was last told of a tariff, and since when (clock of the rules) it is otherwise.
create table told_availability (
  tariff_id int primary key,
  told boolean not null,
  other_since timestamptz
);
create table told_stock (
  operator_code text not null,
  tariff_code text not null,
  told text not null,
  other text,
  other_since timestamptz,
  primary key (operator_code, tariff_code)
);
