-- A process that is sending the QR e-mail of an order. With its own claim, a process can store the outcome later, when the
-- database was away at the end of the sending. A claim that is left over belongs to a process that was killed.
create table order_mail_claims (
  order_id uuid primary key,
  claim uuid not null,
  claimed_at timestamptz not null default now()
);
