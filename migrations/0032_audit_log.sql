-- The audit log: who did what. Its rows form a chain of hashes, so each row's hash covers all rows before it (docs/contract/audit-log.md).

create table audit_log (
  seq bigint primary key,
  account_type text not null,
  account_id uuid not null,
  account_seq bigint not null,
  at timestamptz not null,
  -- JSON, exactly as it was hashed
  entry text not null,
  account_hash bytea not null,
  hash bytea not null,
  constraint audit_log_account_type_check check (account_type in ('bank', 'retailer', 'platform')),
  constraint audit_log_account_seq_key unique (account_type, account_id, account_seq)
);

-- Indexes for the searches of the log. Entries about an object are found by the object's type, or by its type and id.
create index audit_log_at_index on audit_log (account_type, account_id, at, account_seq);
create index audit_log_time_index on audit_log (at, seq);
create index audit_log_action_index on audit_log (account_type, account_id, (entry::jsonb ->> 'action'), account_seq);
create index audit_log_actor_index on audit_log (account_type, account_id, (entry::jsonb #>> '{actor,id}'), account_seq);
create index audit_log_object_type_index on audit_log (account_type, account_id, (entry::jsonb #>> '{object,type}'), account_seq);
create index audit_log_object_index
  on audit_log (account_type, account_id, (entry::jsonb #>> '{object,type}'), (entry::jsonb #>> '{object,id}'), account_seq);
