-- When terminals were added, so that a bank sees what is new since it last looked.

-- Of the platform's directory: when a merchant's terminal came into it.
alter table terminals add column added_at timestamptz not null default now();
update terminals t set added_at = m.created_at from merchants m where m.merchant_id = t.merchant_id;

-- Of a campaign's own terminals: those that an edit has added. The others are there since the campaign was created.
create table campaign_terminal_additions (
  cashback_id uuid not null references campaigns on delete restrict,
  added_at timestamptz not null,
  terminal_ids text[] not null,
  primary key (cashback_id, added_at)
);
