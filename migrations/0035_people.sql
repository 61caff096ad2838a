-- What people need to manage their own accounts: sessions, invitations, second factors, the account's policy and mails.

alter table portal_users
  add column email text,
  -- the language of mails and of the portal; null: the person never chose one
  add column language text constraint portal_users_language_check check (language in ('uk', 'en')),
  -- whether a second factor is set up and confirmed
  add column has_factor boolean not null default false;
create index portal_users_bank_id_index on portal_users (bank_id) where bank_id is not null;
create index portal_users_merchant_id_index on portal_users (merchant_id) where merchant_id is not null;
create index portal_users_platform_index on portal_users (login) where bank_id is null and merchant_id is null;

alter table user_logins add column last_seen_at timestamptz;

alter table credentials
  -- the caller who issued the credential, in the form that histories use; null: the operator
  add column issued_by text,
  add column last_used_at timestamptz;
create index credentials_bank_id_index on credentials (bank_id) where bank_id is not null;
create index credentials_merchant_id_index on credentials (merchant_id) where merchant_id is not null;

-- Each token of a person belongs to a session, whose id is the token's id. All times in this file are real, not the sandbox's.
create table sessions (
  session_id uuid primary key,
  user_id uuid not null references portal_users on delete cascade,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  -- when the person last proved a second factor, or the password if the person has no second factor
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
  -- the id of the person who is created when the invitation is accepted
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

-- Links with which a person sets a new password, and that are not used yet.
create table password_resets (
  token_hash bytea primary key,
  user_id uuid not null references portal_users on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index password_resets_user_id_index on password_resets (user_id);
create index password_resets_expires_at_index on password_resets (expires_at);

-- Requests for a new password after a forgotten one. The worker looks the login up later, so the answer does not reveal whether it exists.
create table reset_requests (
  request_id bigint primary key generated always as identity,
  account_type text not null,
  login text not null,
  requested_at timestamptz not null
);

-- Mails with a link to a new password that each person got lately. They are counted, so that a person gets only a few of them an hour.
create table reset_mails (
  user_id uuid not null references portal_users on delete cascade,
  sent_at timestamptz not null
);
create index reset_mails_user_id_index on reset_mails (user_id, sent_at);

create table totp_factors (
  user_id uuid primary key references portal_users on delete cascade,
  sealed_secret bytea not null,
  created_at timestamptz not null,
  -- null: the person has not entered a code of this factor yet
  confirmed_at timestamptz,
  -- the time step of the last accepted code, so that no code is accepted twice
  last_step bigint not null default 0
);

create table recovery_codes (
  user_id uuid not null references portal_users on delete cascade,
  -- HMAC-SHA-256 under a key of the database
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- Logins with a right password that still need the second factor.
create table login_challenges (
  challenge_hash bytea primary key,
  user_id uuid not null references portal_users on delete cascade,
  tries int not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index login_challenges_user_id_index on login_challenges (user_id);
create index login_challenges_expires_at_index on login_challenges (expires_at);

-- What an account requires of its people and systems. Without a row, the defaults apply.
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

-- Mails to people. Their content, including links and addresses, is encrypted in `sealed`.
create table people_mails (
  mail_id uuid primary key,
  -- the id of a person, or of an invited person
  user_id uuid not null,
  sealed bytea not null,
  state text not null constraint people_mails_state_check check (state in ('waiting', 'sent', 'failed')),
  tries int not null default 0,
  created_at timestamptz not null,
  -- the time of the next try
  next_at timestamptz not null
);
create index people_mails_next_at_index on people_mails (next_at) where state = 'waiting';
create index people_mails_user_id_index on people_mails (user_id, created_at);
create index people_mails_created_at_index on people_mails (created_at);
