-- eSIM sales. A profile has no state of its own: it is taken while a live order names it, and free otherwise. So there is nothing
-- to keep in step, and the unique index orders_live_profile_key makes it impossible to sell a profile twice.

create table mobile_operators (
  mobile_operator_id int primary key generated always as identity,
  code text not null constraint mobile_operators_code_key unique,
  name_uk text not null,
  name_en text not null,
  logo_url text,
  country text not null constraint mobile_operators_country_check check (country ~ '^[A-Z]{2}$' or country = 'global'),
  status text not null constraint mobile_operators_status_check check (status in ('active', 'suspended', 'withdrawn'))
);

create table bank_mobile_operators (
  bank_id uuid not null references banks on delete restrict,
  mobile_operator_id int not null references mobile_operators on delete restrict,
  primary key (bank_id, mobile_operator_id)
);

create table tariffs (
  tariff_id int primary key generated always as identity,
  mobile_operator_id int not null references mobile_operators on delete restrict,
  code text not null,
  name text not null,
  description text not null,
  price numeric(12, 2) not null constraint tariffs_price_check check (price >= 0),
  currency text not null constraint tariffs_currency_check check (currency ~ '^[A-Z]{3}$'),
  data_volume_mb int not null constraint tariffs_data_volume_mb_check check (data_volume_mb >= 0),
  data_unlimited boolean not null,
  voice_minutes int not null constraint tariffs_voice_minutes_check check (voice_minutes >= 0),
  voice_unlimited boolean not null,
  sms_count int not null constraint tariffs_sms_count_check check (sms_count >= 0),
  sms_unlimited boolean not null,
  validity_days int not null constraint tariffs_validity_days_check check (validity_days > 0),
  on_sale boolean not null,
  -- the place of the tariff in the directory file
  position int not null,
  constraint tariffs_code_key unique (mobile_operator_id, code)
);

create table profiles (
  profile_id bigint primary key generated always as identity,
  tariff_id int not null references tariffs on delete restrict,
  -- HMAC-SHA256 of the ICCID under a key outside the database: uniqueness without the plain value
  iccid_hash bytea not null constraint profiles_iccid_hash_key unique,
  msisdn text not null,
  -- AES-256-GCM of iccid, pin1 and activationCode; the layout is in src/esim/sealing.ts
  sealed bytea not null,
  imported_at timestamptz not null
);
create index profiles_tariff_index on profiles (tariff_id, profile_id);

-- No foreign keys to banks, tariffs and profiles: those rows are never deleted, and the row locks of the checks would make every
-- reservation of a tariff queue for that tariff's row. `perkline audit` checks that each one is there.
create table orders (
  order_id uuid primary key,
  -- null: the platform's operator took the profile out of sale
  bank_id uuid,
  external_id text collate "C",
  tariff_id int not null,
  profile_id bigint not null,
  status text not null constraint orders_status_check check (status in ('reserved', 'confirmed', 'cancelled', 'expired', 'withdrawn')),
  -- as shown at the reservation: a tariff that changes later does not change what was sold
  price numeric(12, 2) not null,
  currency text not null,
  created_at timestamptz not null,
  reserved_until timestamptz not null,
  confirmed_at timestamptz,
  cancelled_at timestamptz,
  delivery_mode text constraint orders_delivery_mode_check check (delivery_mode in ('local', 'qr_email')),
  mail text constraint orders_mail_check check (mail in ('sending', 'sent', 'unknown', 'failed')),
  constraint orders_bank_external_id_key unique (bank_id, external_id),
  constraint orders_withdrawn_check check ((status = 'withdrawn') = (bank_id is null) and (bank_id is null) = (external_id is null)),
  constraint orders_confirmed_check check ((status = 'confirmed') = (confirmed_at is not null and delivery_mode is not null)),
  constraint orders_cancelled_check check ((status = 'cancelled') = (cancelled_at is not null)),
  constraint orders_mail_confirmed_check check (mail is null or status = 'confirmed')
);
create unique index orders_live_profile_key on orders (profile_id) where status in ('reserved', 'confirmed', 'withdrawn');
create index orders_reserved_until_index on orders (reserved_until) where status = 'reserved';
create index orders_open_reservations_index on orders (bank_id, reserved_until) where status = 'reserved';

-- Profiles that a cancelled or expired order gave back and that no live order names yet.
create table returned_profiles (
  profile_id bigint primary key,
  tariff_id int not null
);
create index returned_profiles_tariff_index on returned_profiles (tariff_id, profile_id);

-- How far the stock of a tariff was ever handed out: each profile up to here is on a live order or in returned_profiles, so nobody
-- has to walk over what was sold.
create table stock_positions (
  tariff_id int primary key,
  taken_up_to bigint not null
);
