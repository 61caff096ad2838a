-- Limits of what merchants may do with banks that have not agreed to anything yet.

-- The campaigns of a merchant that await banks.
create index campaigns_pending_index on campaigns (merchant_id) where status = 'awaitingBankApproval';

-- Segments that a merchant has formed on a day of real time, UTC; only the present day is kept.
create table segment_uploads (
  merchant_id uuid not null references merchants on delete cascade,
  day date not null,
  cashback_id uuid not null,
  uploads int not null,
  primary key (merchant_id, day, cashback_id)
);
