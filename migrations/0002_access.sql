-- Who may call: gateway credentials (clientId and secret) and portal users (login and password).

create table credentials (
  client_id text primary key,
  bank_id uuid references banks on delete restrict,
  merchant_id uuid references merchants on delete restrict,
  role text not null,
  label text not null,
  -- SHA-256 of a random 256-bit secret: nothing to guess, so nothing to slow down
  secret_hash bytea not null,
  previous_secret_hash bytea,
  previous_valid_until timestamptz,
  created_at timestamptz not null,
  revoked_at timestamptz,
  constraint credentials_account_check check ((bank_id is null) <> (merchant_id is null)),
  constraint credentials_role_check check (
    case when bank_id is null then role = 'gateway' else role in ('ADMIN', 'EDITOR', 'VIEWER') end),
  constraint credentials_previous_check check ((previous_secret_hash is null) = (previous_valid_until is null))
);
create index credentials_revoked_at_index on credentials (revoked_at) where revoked_at is not null;

create table portal_users (
  user_id uuid primary key,
  bank_id uuid references banks on delete restrict,
  merchant_id uuid references merchants on delete restrict,
  login text not null constraint portal_users_login_key unique,
  role text not null,
  password_hash text not null,
  created_at timestamptz not null,
  disabled_at timestamptz,
  constraint portal_users_account_check check (bank_id is null or merchant_id is null),
  constraint portal_users_role_check check (
    case
      when bank_id is not null then role in ('ADMIN', 'EDITOR', 'VIEWER')
      when merchant_id is not null then role in ('admin_user', 'editor', 'viewer')
      else role in ('admin', 'viewer')
    end)
);
create index portal_users_disabled_at_index on portal_users (disabled_at) where disabled_at is not null;

-- Keys that must outlive a change of MASTER_KEY, sealed under it.
create table sealed_keys (
  purpose text primary key,
  sealed bytea not null
);

-- One row: how far the sandbox clock is ahead of real time.
create table sandbox_clock (
  only_row boolean primary key default true constraint sandbox_clock_only_row_check check (only_row),
  offset_ms bigint not null constraint sandbox_clock_offset_ms_check check (offset_ms >= 0)
);
insert into sandbox_clock (offset_ms) values (0);
