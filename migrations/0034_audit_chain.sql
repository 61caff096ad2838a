-- How entries get into the audit log, and what keeps them there.

-- As the outbox names accounts.
alter table audit_log drop constraint audit_log_account_type_check;
alter table audit_log add constraint audit_log_account_type_check check (account_type in ('bank', 'merchant', 'platform'));
insert into event_ticks (consumer, snapshot) values ('audit-log', pg_current_snapshot());

-- What outlives entries: signed checkpoints, and the last hashes of what was removed because of its age.
create table audit_anchors (
  anchor_id bigint generated always as identity primary key,
  kind text not null constraint audit_anchors_kind_check check (kind in ('checkpoint', 'removed')),
  -- real time
  at timestamptz not null,
  -- null: not of one account, but of the whole log
  account_type text,
  account_id uuid,
  -- the last number that it stands for: of the account, else of the whole log
  seq bigint not null,
  hash bytea not null,
  -- of a checkpoint, the signed note
  note text,
  constraint audit_anchors_note_check check ((kind = 'checkpoint') = (note is not null))
);
create index audit_anchors_at_index on audit_anchors (kind, at, anchor_id);
create index audit_anchors_account_index on audit_anchors (account_type, account_id, seq) where kind = 'removed';

-- Whoever owns the tables can take the trigger away. What shows that is a checkpoint outside of the database.
revoke update, delete, truncate on audit_log from public;
create function refuse_audit_log_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('perkline.audit_removal', true) = pg_current_xact_id()::text then
    return null;
  end if;
  raise exception 'The audit log takes new entries only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_log_refuse_change before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_log_change();

-- Removes what is older from the beginning of the log, and keeps its last hashes. The mark is for this transaction alone.
-- Returns how many entries went.
create function remove_old_audit_entries(older_than timestamptz, at_most int) returns bigint
language plpgsql security definer set search_path from current as $$
declare
  last_seq bigint;
  removed bigint;
begin
  select coalesce(min(seq) filter (where at >= older_than) - 1, max(seq)) into last_seq
  from (select seq, at from audit_log order by seq limit at_most) as oldest;
  if last_seq is null or not exists (select from audit_log where seq <= last_seq) then
    return 0;
  end if;
  insert into audit_anchors (kind, at, account_type, account_id, seq, hash)
  select 'removed', clock_timestamp(), null, null, seq, hash from audit_log where seq = last_seq
  union all
  select * from (
    select distinct on (account_type, account_id) 'removed', clock_timestamp(), account_type, account_id, account_seq, account_hash
    from audit_log where seq <= last_seq order by account_type, account_id, account_seq desc
  ) as accounts;
  perform set_config('perkline.audit_removal', pg_current_xact_id()::text, true);
  delete from audit_log where seq <= last_seq;
  get diagnostics removed = row_count;
  perform set_config('perkline.audit_removal', '', true);
  return removed;
end $$;
revoke execute on function remove_old_audit_entries from public;
