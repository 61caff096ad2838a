-- Runs of the audit. Only two are kept: the last finished run, and a run that is still going or was interrupted.
create table audit_runs (
  run_id bigint primary key generated always as identity,
  -- real time, not the time of the sandbox's clock
  started_at timestamptz not null default now(),
  saved_at timestamptz not null default now(),
  -- what the run has checked and found so far; a resumed run continues from there
  progress jsonb not null,
  finished_at timestamptz,
  result jsonb,
  constraint audit_runs_finished_check check ((finished_at is null) = (result is null))
);
