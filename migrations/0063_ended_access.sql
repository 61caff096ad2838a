-- Whose access has ended is read by change, like ended tokens. Reading all of it took too long when an account had revoked or rotated very
-- many credentials.
create table ended_access (
  -- of a credential, a person or a client secret
  id text primary key,
  -- null: a person was enabled again
  ends_at timestamptz,
  changed_at timestamptz not null,
  -- in the order of the commits
  number bigint generated always as identity
);
create unique index ended_access_number_key on ended_access (number);
create index ended_access_time_index on ended_access (greatest(ends_at, changed_at));

-- The triggers run at the commit. The lock lasts until the commit is done, so numbers have the order of the commits and a reader misses
-- none. The lock is the last one of a transaction, so nobody waits in a circle. Processes of older versions are covered, too.
-- The arguments are the columns with the id and with the time of the end.
create function note_ended_access() returns trigger language plpgsql set search_path from current as $$
begin
  perform pg_advisory_xact_lock(7365063);
  insert into ended_access (id, ends_at, changed_at)
  values (to_jsonb(new) ->> tg_argv[0], (to_jsonb(new) ->> tg_argv[1])::timestamptz, now())
  on conflict (id) do update set ends_at = excluded.ends_at, changed_at = excluded.changed_at, number = default;
  return null;
end $$;

create constraint trigger credentials_note_end after update of revoked_at on credentials
  deferrable initially deferred for each row when (new.revoked_at is distinct from old.revoked_at)
  execute function note_ended_access('client_id', 'revoked_at');
create constraint trigger portal_users_note_end after update of disabled_at on portal_users
  deferrable initially deferred for each row when (new.disabled_at is distinct from old.disabled_at)
  execute function note_ended_access('user_id', 'disabled_at');
create constraint trigger ended_secrets_note_end after insert or update of ends_at on ended_secrets
  deferrable initially deferred for each row
  execute function note_ended_access('secret_id', 'ends_at');

-- Tokens live for two hours. Whatever ended before that needs no row.
insert into ended_access (id, ends_at, changed_at)
select client_id, revoked_at, now() from credentials where revoked_at > now() - interval '3 hours'
union all select user_id::text, disabled_at, now() from portal_users where disabled_at > now() - interval '3 hours'
union all select secret_id, ends_at, now() from ended_secrets;

-- These indexes also find the live credentials of an account, and the newest of its revoked ones.
create index credentials_bank_index on credentials (bank_id, revoked_at) where bank_id is not null;
create index credentials_merchant_index on credentials (merchant_id, revoked_at) where merchant_id is not null;
drop index credentials_bank_id_index, credentials_merchant_id_index;
