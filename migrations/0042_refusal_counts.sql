-- Refusals that a process has counted and not told yet. Should it be killed, another one tells of them.

create table refusal_counts (
  process_id uuid not null,
  -- which of the process's sums
  sum_key text not null,
  -- the sum as it stands: who and where, how many tries, from which addresses
  data jsonb not null,
  -- real time
  counted_at timestamptz not null,
  primary key (process_id, sum_key)
);
create index refusal_counts_counted_at_index on refusal_counts (counted_at);
