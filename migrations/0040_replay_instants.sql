-- Replays by what the events say of when they happened; null: no bound.
alter table webhook_replays add column since timestamptz, add column until timestamptz;

-- As `uuid_at (at)`; ids of one instant ascend with a number. Its lower 24 bits stand in the places behind the time, 48 others are random.
create function uuid_at(at timestamptz, number bigint) returns uuid volatile parallel safe language sql as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex((number >> 12) & 4095), 3, '0')
    || '8' || lpad(to_hex(number & 4095), 3, '0') || right(gen_random_uuid()::text, 12))::uuid
$$;
