-- Banks, merchants and what the platform keeps in its directory. Nothing here is ever deleted: a partner that leaves is suspended.

create table countries (
  country_id uuid primary key,
  code text not null constraint countries_code_key unique constraint countries_code_check check (code ~ '^[A-Z]{2}$'),
  name text not null,
  currency_code text not null,
  currency_name text not null,
  currency_symbol text not null,
  currency_icon text not null
);

create table payment_systems (
  payment_system_id uuid primary key,
  code text not null constraint payment_systems_code_key unique,
  name text not null
);

create table banks (
  bank_id uuid primary key,
  code text not null constraint banks_code_key unique,
  name text not null,
  logo_url text not null,
  api_version text not null,
  status text not null constraint banks_status_check check (status in ('active', 'suspended')),
  esim_delivery_mode text not null constraint banks_esim_delivery_mode_check check (esim_delivery_mode in ('local', 'qr_email')),
  -- true: every mobile operator, also those to come; false: those in bank_mobile_operators
  esim_all_operators boolean not null
);

create table merchants (
  merchant_id uuid primary key,
  code text not null constraint merchants_code_key unique,
  name text not null,
  name_en text not null,
  description text not null,
  logo_url text not null,
  url_ident text not null,
  domain text[] not null,
  merchant_category_code text[] not null,
  card_presentation_id uuid,
  is_review boolean not null,
  is_mask boolean not null,
  ios_app_url text,
  android_app_url text,
  status text not null constraint merchants_status_check check (status in ('active', 'suspended')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table merchant_excluded_banks (
  merchant_id uuid not null references merchants on delete restrict,
  bank_id uuid not null references banks on delete restrict,
  primary key (merchant_id, bank_id)
);

-- The platform's own directory of terminals. Only the applied directory replaces it.
create table terminals (
  merchant_id uuid not null references merchants on delete restrict,
  terminal_id text not null,
  name text,
  location text,
  payment_system_merchant_id text,
  payment_system_merchant_name text,
  primary key (merchant_id, terminal_id)
);

-- One row: counts the changes of the directory, so that a process sees with one cheap read whether its copy is stale.
create table directory_version (
  only_row boolean primary key default true constraint directory_version_only_row_check check (only_row),
  version bigint not null
);
insert into directory_version (version) values (0);
