-- What protects passwords, and what people are told of attempts; tokens that were ended are read by change.

-- In the order of the commits: whoever ends a token holds a lock from before the number is drawn.
alter table ended_tokens add column number bigint generated always as identity;
create unique index ended_tokens_number_key on ended_tokens (number);
create index ended_tokens_expires_at_index on ended_tokens (expires_at);

-- Wrong passwords of one login since it last got in; logins that nobody has are kept for an hour.
create table failed_logins (
  -- SHA-256 of the login as it was typed
  login_key bytea primary key,
  is_known boolean not null,
  failures int not null,
  last_at timestamptz not null,
  -- before this instant no password of the login is looked at, but from addresses where it got in
  next_at timestamptz not null
);
create index failed_logins_last_at_index on failed_logins (last_at) where not is_known;

-- The last login of each user, and the wrong passwords between it and the one before.
create table user_logins (
  user_id uuid primary key references portal_users on delete cascade,
  last_at timestamptz not null,
  failed_count int not null,
  failed_since timestamptz not null
);

-- Where each user got in. Of IPv6 the /64.
create table login_addresses (
  user_id uuid not null references portal_users on delete cascade,
  address text not null,
  last_at timestamptz not null,
  primary key (user_id, address)
);
