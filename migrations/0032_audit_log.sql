-- Who did what, in a chain of hashes: a row says all that was before it (docs/contract/audit-log.md).

create table audit_log (
  seq bigint primary key,
  account_type text not null,
  account_id uuid not null,
  account_seq bigint not null,
  at timestamptz not null,
  -- JSON, and the very text that was hashed
  entry text not null,
  account_hash bytea not null,
  hash bytea not null,
  constraint audit_log_account_type_check check (account_type in ('bank', 'retailer', 'platform')),
  constraint audit_log_account_seq_key unique (account_type, account_id, account_seq)
);

-- What lists are searched by. An entry of an object is found by the object's type, and by type and id.
create index audit_log_at_index on audit_log (account_type, account_id, at, account_seq);
create index audit_log_time_index on audit_log (at, seq);
create index audit_log_action_index on audit_log (account_type, account_id, (entry::jsonb ->> 'action'), account_seq);
create index audit_log_actor_index on audit_log (account_type, account_id, (entry::jsonb #>> '{actor,id}'), account_seq);
create index audit_log_object_type_index on audit_log (account_type, account_id, (entry::jsonb #>> '{object,type}'), account_seq);
create index audit_log_object_index
  on audit_log (account_type, account_id, (entry::jsonb #>> '{object,type}'), (entry::jsonb #>> '{object,id}'), account_seq);
