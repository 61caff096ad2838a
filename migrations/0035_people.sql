-- What people need to manage their own accounts: sessions, invitations, second factors, the account's policy and mails.

alter table portal_users
  add column email text,
  -- of mails and of the portal; null: never chosen
  add column language text constraint portal_users_language_check check (language in ('uk', 'en')),
  -- whether a second factor is set up and confirmed
  add column has_factor boolean not null default false;
create index portal_users_bank_id_index on portal_users (bank_id) where bank_id is not null;
create index portal_users_merchant_id_index on portal_users (merchant_id) where merchant_id is not null;
create index portal_users_platform_index on portal_users (login) where bank_id is null and merchant_id is null;

alter table user_logins add column last_seen_at timestamptz;

alter table credentials
  -- who issued it, as histories name callers; null: the operator
  add column issued_by text,
  add column last_used_at timestamptz;
create index credentials_bank_id_index on credentials (bank_id) where bank_id is not null;
create index credentials_merchant_id_index on credentials (merchant_id) where merchant_id is not null;

-- Every token of a person is a session; its id is the token's. Real time, as everywhere in this file.
create table sessions (
  session_id uuid primary key,
  user_id uuid not null references portal_users on delete cascade,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  -- when a factor was proven last; the password is one for who has no second factor
  factor_at timestamptz not null,
  address text not null,
  user_agent text not null,
  method text not null constraint sessions_method_check check (method in ('password', 'totp', 'recovery-code'))
);
create index sessions_user_id_index on sessions (user_id);
create index sessions_expires_at_index on sessions (expires_at);

-- Invitations that nobody has accepted yet.
create table invitations (
  invitation_id uuid primary key,
  -- of the person who comes into being with it
  user_id uuid not null,
  bank_id uuid references banks on delete restrict,
  merchant_id uuid references merchants on delete restrict,
  login text not null,
  email text,
  role text not null,
  invited_by uuid not null,
  -- SHA-256 of 256 random bits
  token_hash bytea not null constraint invitations_token_hash_key unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint invitations_account_check check (bank_id is null or merchant_id is null)
);
create index invitations_bank_id_index on invitations (bank_id) where bank_id is not null;
create index invitations_merchant_id_index on invitations (merchant_id) where merchant_id is not null;
create index invitations_platform_index on invitations (login) where bank_id is null and merchant_id is null;
create index invitations_expires_at_index on invitations (expires_at);

-- Links to a new password that nobody has used yet.
create table password_resets (
  token_hash bytea primary key,
  user_id uuid not null references portal_users on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index password_resets_user_id_index on password_resets (user_id);
create index password_resets_expires_at_index on password_resets (expires_at);

-- Requests of people who have forgotten their password. Who has the login is looked up later, so that answers tell nothing.
create table reset_requests (
  request_id bigint primary key generated always as identity,
  account_type text not null,
  login text not null,
  requested_at timestamptz not null
);

-- How often a login got a link lately; of a login that nobody has there is none.
create table reset_mails (
  user_id uuid not null references portal_users on delete cascade,
  sent_at timestamptz not null
);
create index reset_mails_user_id_index on reset_mails (user_id, sent_at);

create table totp_factors (
  user_id uuid primary key references portal_users on delete cascade,
  sealed_secret bytea not null,
  created_at timestamptz not null,
  -- null: no code of it was shown yet
  confirmed_at timestamptz,
  -- the last time step whose code was taken
  last_step bigint not null default 0
);

create table recovery_codes (
  user_id uuid not null references portal_users on delete cascade,
  -- HMAC-SHA-256 under a key of the database
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- Logins whose password was right and whose second factor is still to come.
create table login_challenges (
  challenge_hash bytea primary key,
  user_id uuid not null references portal_users on delete cascade,
  tries int not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index login_challenges_user_id_index on login_challenges (user_id);
create index login_challenges_expires_at_index on login_challenges (expires_at);

-- What an account asks of its people and systems; without a row the defaults hold.
create table account_policies (
  bank_id uuid constraint account_policies_bank_id_key unique references banks on delete restrict,
  merchant_id uuid constraint account_policies_merchant_id_key unique references merchants on delete restrict,
  mfa text not null constraint account_policies_mfa_check check (mfa in ('off', 'optional', 'required')),
  session_minutes int not null constraint account_policies_session_minutes_check check (session_minutes between 15 and 120),
  people_addresses text[] not null,
  system_addresses text[] not null,
  changed_at timestamptz not null,
  constraint account_policies_account_check check (bank_id is null or merchant_id is null)
);
create unique index account_policies_platform_key on account_policies ((true)) where bank_id is null and merchant_id is null;

-- Mails to people. What they say, with their links and addresses, is sealed.
create table people_mails (
  mail_id uuid primary key,
  -- of a person or of one invited
  user_id uuid not null,
  sealed bytea not null,
  state text not null constraint people_mails_state_check check (state in ('waiting', 'sent', 'failed')),
  tries int not null default 0,
  created_at timestamptz not null,
  -- when it is tried next
  next_at timestamptz not null
);
create index people_mails_next_at_index on people_mails (next_at) where state = 'waiting';
create index people_mails_user_id_index on people_mails (user_id, created_at);
create index people_mails_created_at_index on people_mails (created_at);
