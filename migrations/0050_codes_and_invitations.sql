-- How often a wrong code was entered after a right password. The next login shows these tries to the person together with the failed
-- passwords. They do not delay the next try of a password.
alter table failed_logins add column wrong_codes int not null default 0;

alter table invitations
  -- the login in NFKC and lower case; null: a process of the previous version made the invitation
  add column login_key text;
create index invitations_user_id_index on invitations (user_id);
