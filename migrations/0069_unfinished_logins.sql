-- Where a login that waits for its second factor came from. If it is never finished, somebody knows the password: the audit log tells of it,
-- and the person. Null: a process of the version before has stored the login. Nobody is told of such a one.
alter table login_challenges
  add column address text,
  add column via text;
