-- Lets only entries older than the minimum retention (one year) be removed from the audit log, and stores the age of removed ones so that
-- it can be checked.

-- When the last of the removed entries was made, in rows of the kind `removed`.
alter table audit_anchors add column entry_at timestamptz;

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
  perform set_config('perkline.audit_removal', pg_current_xact_id()::text, true);
  delete from audit_log where seq <= last_seq;
  get diagnostics removed = row_count;
  perform set_config('perkline.audit_removal', '', true);
  return removed;
end $$;
