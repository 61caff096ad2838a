-- The first answers to requests that carried an Idempotency-Key, written in the transaction of the operation itself.
create table idempotency_answers (
  account_type text not null constraint idempotency_answers_account_type_check check (account_type in ('bank', 'retailer', 'platform')),
  -- all zeros for the platform
  account_id uuid not null,
  -- HTTP method and path template
  operation text not null,
  key text collate "C" not null,
  -- SHA-256 of what was asked for
  fingerprint bytea not null,
  status smallint not null,
  -- sealed: some answers hold a secret
  body bytea not null,
  location text,
  -- real time, not the sandbox's
  created_at timestamptz not null default now(),
  primary key (account_type, account_id, operation, key)
);
create index idempotency_answers_created_at_index on idempotency_answers (created_at);
