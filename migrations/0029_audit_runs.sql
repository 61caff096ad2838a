-- Runs of the audit: the last one that was finished, and the one that runs or was broken off.
create table audit_runs (
  run_id bigint primary key generated always as identity,
  -- real time, not the sandbox's
  started_at timestamptz not null default now(),
  saved_at timestamptz not null default now(),
  -- how far it has come and what it has found: a resumed run goes on from here
  progress jsonb not null,
  finished_at timestamptz,
  result jsonb,
  constraint audit_runs_finished_check check ((finished_at is null) = (result is null))
);
