-- Holds a long text in pieces until a statement copies it to its own row. These rows exist only within one transaction, so the table needs
-- no write-ahead log.
create unlogged table staged_texts (
  staged_id uuid not null,
  place integer not null,
  piece bytea not null,
  primary key (staged_id, place)
);
-- Each piece is read only once, so compressing it would only take time.
alter table staged_texts alter column piece set storage external;
