-- Terminals that an applied directory has removed, with the latest time at which it did. Reports of purchases from before that time may
-- still come. A process of before deletes terminals without a row here, so it judges their purchases as ever.
create table removed_terminals (
  merchant_id uuid not null references merchants on delete restrict,
  terminal_id text not null,
  removed_at timestamptz not null,
  primary key (merchant_id, terminal_id)
);
