-- A consumer that keeps the order of changes continues a long backlog behind the row that it has taken last. With these indexes it
-- reads only the rows that it takes. Each slot has an index of its own, so that it can be built while rows are written.
create index concurrently if not exists outbox_0_order_index on outbox_0 (outbox_id);
create index concurrently if not exists outbox_1_order_index on outbox_1 (outbox_id);
create index concurrently if not exists outbox_2_order_index on outbox_2 (outbox_id);
create index concurrently if not exists outbox_3_order_index on outbox_3 (outbox_id);
