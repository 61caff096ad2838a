-- Links made by a manager become invalid when the manager loses access. No two logins may look alike.

alter table password_resets
  -- the manager who made the link; null: the person asked for it
  add column made_by uuid;
create index password_resets_made_by_index on password_resets (made_by) where made_by is not null;
create index invitations_invited_by_index on invitations (invited_by);

alter table portal_users
  -- the login in NFKC and lower case; null: an older login has the same key
  add column login_key text;

-- Fills the key of existing rows; the program writes it for new ones. Without ICU, the database may lowercase only ASCII letters.
do $$
declare
  folded text := 'lower(normalize(login, NFKC))';
begin
  if exists (select from pg_collation where collname = 'und-x-icu') then
    folded := 'lower(normalize(login, NFKC) collate "und-x-icu")';
  end if;
  execute format(
    'update portal_users u set login_key = k.key
     from (select user_id, %1$s as key, row_number() over (partition by %1$s order by created_at, user_id) as place
           from portal_users) k
     where k.user_id = u.user_id and k.place = 1', folded);
end $$;
create unique index portal_users_login_key_index on portal_users (login_key);
