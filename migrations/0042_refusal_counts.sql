-- Refused logins and addresses that a process has counted but not yet recorded in the audit log. If the process is killed, another process
-- records them.

create table refusal_counts (
  process_id uuid not null,
  -- identifies the sum among those of its process
  sum_key text not null,
  -- the present sum: who was refused, the number of tries, and the addresses that they came from
  data jsonb not null,
  -- real time, not the time of the sandbox's clock
  counted_at timestamptz not null,
  primary key (process_id, sum_key)
);
create index refusal_counts_counted_at_index on refusal_counts (counted_at);
