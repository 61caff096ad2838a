-- Events. Each account has one feed, whose events are numbered without a gap.

-- Returns a UUID of version 7 that contains the given time, so that the day of a row can be computed from its id.
create function uuid_at(at timestamptz) returns uuid volatile parallel safe language sql as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- The platform's account has no id of its own, so its feed has the id with all zeros.
create table feeds (
  account_type text not null,
  account_id uuid not null,
  feed_id uuid not null default gen_random_uuid(),
  -- the sequence of the last event that was removed
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

-- The first sequence of each account's day. It shows in which day's partition an event is stored.
create table feed_days (
  account_type text not null,
  account_id uuid not null,
  day date not null,
  first_sequence bigint not null,
  primary key (account_type, account_id, day)
);

-- Events are partitioned by the UTC day on which they were recorded; the tick creates the partitions in advance. Rows are never changed,
-- and are removed with the partition of their day.
create table events (
  account_type text not null,
  account_id uuid not null,
  sequence bigint not null,
  day date not null,
  event_id uuid not null,
  type text not null,
  recorded_at timestamptz not null,
  -- the event's JSON, as the feed returns it and webhooks send it
  body text not null
) partition by range (day);
create unique index events_sequence_key on events (account_type, account_id, sequence, day);
create unique index events_event_id_key on events (event_id, day);

insert into event_ticks (consumer, snapshot) values ('events', pg_current_snapshot());

-- Some events are caused by the passing of time, such as the coming end of a reservation. Their job has recorded all that are due up to
-- `reached`.
create table event_positions (
  name text primary key,
  reached timestamptz not null
);
insert into event_positions (name, reached)
select 'order.expiring', now() + offset_ms * interval '1 millisecond' + interval '5 minutes' from sandbox_clock
union all select 'credential.overlap_ending', now() + interval '1 hour';

-- When the previous secret was replaced; null: it was never replaced, or a process of the previous version replaced it.
alter table credentials add column previous_replaced_at timestamptz;
create index credentials_previous_valid_until_index on credentials (previous_valid_until);

-- `told` is the state of a tariff that was last reported in an event. `other_since` is the time, by the platform's clock, since which the
-- tariff's real state differs from it.
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
