-- A consumer of the outbox that writes the audit log, and a trigger that refuses changes of its entries.

-- The audit log now uses the same account types as the outbox: `merchant` instead of `retailer`.
alter table audit_log drop constraint audit_log_account_type_check;
alter table audit_log add constraint audit_log_account_type_check check (account_type in ('bank', 'merchant', 'platform'));
insert into event_ticks (consumer, snapshot) values ('audit-log', pg_current_snapshot());

-- Hashes that are kept even after their entries are removed: signed checkpoints, and the last hashes of entries removed because of their
-- age.
create table audit_anchors (
  anchor_id bigint generated always as identity primary key,
  kind text not null constraint audit_anchors_kind_check check (kind in ('checkpoint', 'removed')),
  -- real time, not the time of the sandbox's clock
  at timestamptz not null,
  -- null: the row is about the whole log, not about one account
  account_type text,
  account_id uuid,
  -- the number of the last entry that the row covers: in the account's own numbering, or in that of the whole log
  seq bigint not null,
  hash bytea not null,
  -- the signed note of a checkpoint
  note text,
  constraint audit_anchors_note_check check ((kind = 'checkpoint') = (note is not null))
);
create index audit_anchors_at_index on audit_anchors (kind, at, anchor_id);
create index audit_anchors_account_index on audit_anchors (account_type, account_id, seq) where kind = 'removed';

-- The owner of the tables can still drop this trigger and change entries. Only a checkpoint kept outside the database reveals that.
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

-- Removes entries older than `older_than`, up to `at_most` of them, from the beginning of the log, and keeps their last hashes. The setting
-- `perkline.audit_removal` lets the trigger above accept this transaction only. Returns the number of removed entries.
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
