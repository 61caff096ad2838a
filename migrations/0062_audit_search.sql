-- The searches of the audit log look at columns of their own instead of the JSON text. Indexes on parts of the JSON parsed each new
-- entry five times, which took more time than all else that writing an entry needs. No released version has written entries, so the
-- update below fills few rows or none.
alter table audit_log add column action text, add column actor_id text, add column object_type text, add column object_id text;

alter table audit_log disable trigger audit_log_refuse_change;
update audit_log
set action = entry::jsonb ->> 'action', actor_id = entry::jsonb #>> '{actor,id}',
    object_type = entry::jsonb #>> '{object,type}', object_id = entry::jsonb #>> '{object,id}';
alter table audit_log enable trigger audit_log_refuse_change;

drop index audit_log_action_index, audit_log_actor_index, audit_log_object_type_index, audit_log_object_index;
create index audit_log_action_index on audit_log (account_type, account_id, action, account_seq);
create index audit_log_actor_index on audit_log (account_type, account_id, actor_id, account_seq) where actor_id is not null;
create index audit_log_object_type_index on audit_log (account_type, account_id, object_type, account_seq);
create index audit_log_object_index on audit_log (account_type, account_id, object_type, object_id, account_seq)
  where object_id is not null;
