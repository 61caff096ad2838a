-- Who signs checkpoints of the audit log, and where one stands in the log of an account.

-- The id under which this installation signs, for as long as its database lives.
create table installation (
  only_row boolean primary key default true constraint installation_only_row_check check (only_row),
  installation_id uuid not null default gen_random_uuid()
);
insert into installation default values;

create table audit_keys (
  key_id text primary key,
  -- 32 bytes, Ed25519
  public_key bytea not null,
  -- null: retired, it signs no more
  sealed_private_key bytea,
  created_at timestamptz not null
);

-- The hourly one, and not one of a stop or of the operator.
alter table audit_anchors add column is_hourly boolean not null default false;
create index audit_log_account_index on audit_log (account_type, account_id, seq);
