-- Who confirmed or cancelled an order, and who was shown its activation data again.

-- `system:` and a clientId, or `person:` and a user's id; null for orders that ended before this version
alter table orders add column ended_by text;

-- Counts, not single reads: one row for each order, kind of answer and caller.
create table activation_reads (
  order_id uuid not null,
  kind text not null constraint activation_reads_kind_check check (kind in ('confirm_repeated', 'qr_read')),
  caller text not null,
  reads int not null constraint activation_reads_reads_check check (reads > 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (order_id, kind, caller)
);
