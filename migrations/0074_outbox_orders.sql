-- The jobs that read only the outbox rows about orders find them without walking over all others, for example those of ten thousand
-- campaigns that end at one instant. Each slot has an index of its own, so that it can be built while rows are written. The kinds are
-- those of `orderRowKinds` (src/outbox/rows.ts).
create index concurrently if not exists outbox_0_orders_index on outbox_0 (xid)
  where kind in ('order.confirmed', 'order.cancelled', 'order.expired', 'profile.withdrawn');
create index concurrently if not exists outbox_1_orders_index on outbox_1 (xid)
  where kind in ('order.confirmed', 'order.cancelled', 'order.expired', 'profile.withdrawn');
create index concurrently if not exists outbox_2_orders_index on outbox_2 (xid)
  where kind in ('order.confirmed', 'order.cancelled', 'order.expired', 'profile.withdrawn');
create index concurrently if not exists outbox_3_orders_index on outbox_3 (xid)
  where kind in ('order.confirmed', 'order.cancelled', 'order.expired', 'profile.withdrawn');
