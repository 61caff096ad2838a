-- The keys that sign checkpoints of the audit log, and an index that finds the last entry of an account that a checkpoint covers.

-- The id that this installation signs with. It stays the same as long as the database exists.
create table installation (
  only_row boolean primary key default true constraint installation_only_row_check check (only_row),
  installation_id uuid not null default gen_random_uuid()
);
insert into installation default values;

create table audit_keys (
  key_id text primary key,
  -- 32 bytes, Ed25519
  public_key bytea not null,
  -- null: the key is retired and signs nothing more
  sealed_private_key bytea,
  created_at timestamptz not null
);

-- Whether a checkpoint is an hourly one. Others are made when a process stops, or when the operator requests one.
alter table audit_anchors add column is_hourly boolean not null default false;
create index audit_log_account_index on audit_log (account_type, account_id, seq);
