-- A trigger now checks the removed entries themselves. Setting a variable in a session no longer allows entries to be deleted.

-- Updates and truncates are still refused before they begin.
create or replace function refuse_audit_log_change() returns trigger language plpgsql as $$
begin
  raise exception 'The audit log takes new entries only' using errcode = 'insufficient_privilege';
end $$;
drop trigger audit_log_refuse_change on audit_log;
create trigger audit_log_refuse_change before update or truncate on audit_log
  for each statement execute function refuse_audit_log_change();

-- Accepts a removal only if it takes the oldest entries of the log, if all of them are older than the minimum retention, and if the hash
-- of the last one is stored in `audit_anchors`.
create function check_audit_log_removal() returns trigger language plpgsql set search_path from current as $$
declare
  last_seq bigint;
  least_at timestamptz := now() - interval '1 year';
begin
  select max(seq) into last_seq from removed;
  if last_seq is null
    or exists (select from removed where at > least_at)
    or exists (select from audit_log where seq <= last_seq)
    or not exists (
      select from removed r join audit_anchors a on a.kind = 'removed' and a.account_type is null and a.seq = r.seq and a.hash = r.hash
      where r.seq = last_seq)
  then
    raise exception 'The audit log takes new entries only' using errcode = 'insufficient_privilege';
  end if;
  return null;
end $$;
create trigger audit_log_check_removal after delete on audit_log
  referencing old table as removed for each statement execute function check_audit_log_removal();

-- The same function as in migration 0039, without the setting that the old trigger required.
create or replace function remove_old_audit_entries(older_than timestamptz, at_most int) returns bigint
language plpgsql security definer set search_path from current as $$
declare
  last_seq bigint;
  removed bigint;
begin
  if older_than is null or older_than > now() - interval '1 year' then
    raise exception 'The audit log keeps entries for a year at least' using errcode = 'insufficient_privilege';
  end if;
  select coalesce(min(seq) filter (where at >= older_than) - 1, max(seq)) into last_seq
  from (select seq, at from audit_log order by seq limit at_most) as oldest;
  if last_seq is null or not exists (select from audit_log where seq <= last_seq) then
    return 0;
  end if;
  insert into audit_anchors (kind, at, account_type, account_id, seq, hash, entry_at)
  select 'removed', clock_timestamp(), null, null, seq, hash, at from audit_log where seq = last_seq
  union all
  select * from (
    select distinct on (account_type, account_id) 'removed', clock_timestamp(), account_type, account_id, account_seq, account_hash, at
    from audit_log where seq <= last_seq order by account_type, account_id, account_seq desc
  ) as accounts;
  delete from audit_log where seq <= last_seq;
  get diagnostics removed = row_count;
  return removed;
end $$;
