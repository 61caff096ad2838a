-- What the directory says of a bank besides: whether merchants form segments of its customers, and how much of a tariff's unsold stock
-- it may hold reserved, in per cent. Null: the platform's setting.
alter table banks
  add column segments boolean not null default true,
  add column esim_reservation_share int
    constraint banks_esim_reservation_share_check check (esim_reservation_share between 1 and 100);
