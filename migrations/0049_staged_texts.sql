-- Long texts on their way into a row, in pieces. Rows live within one transaction only, so the table needs no log.
create unlogged table staged_texts (
  staged_id uuid not null,
  place integer not null,
  piece bytea not null,
  primary key (staged_id, place)
);
-- Pieces are read once: packing them would only take time.
alter table staged_texts alter column piece set storage external;
