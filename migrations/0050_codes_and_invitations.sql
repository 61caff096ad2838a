-- A wrong code behind a right password is a failed login, too: the person is told of it at the next login. It does not make the next
-- password wait.
alter table failed_logins add column wrong_codes int not null default 0;

alter table invitations
  -- the login in NFKC and lower case; null: a process of the version before has made the invitation
  add column login_key text;
create index invitations_user_id_index on invitations (user_id);
