-- Limits a replay to the events whose timestamp is between these times; null: no limit.
alter table webhook_replays add column since timestamptz, add column until timestamptz;

-- Like `uuid_at (at)`, but ids made for the same instant ascend with `number`. The lower 24 bits of the number follow the time, and the
-- last 48 bits are random.
create function uuid_at(at timestamptz, number bigint) returns uuid volatile parallel safe language sql as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex((number >> 12) & 4095), 3, '0')
    || '8' || lpad(to_hex(number & 4095), 3, '0') || right(gen_random_uuid()::text, 12))::uuid
$$;
