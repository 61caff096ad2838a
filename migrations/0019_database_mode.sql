-- The mode of the first start on this database: a start in the other one is refused.
create table database_mode (
  only_row boolean primary key default true constraint database_mode_only_row_check check (only_row),
  mode text not null constraint database_mode_mode_check check (mode in ('sandbox', 'live')),
  first_used_at timestamptz not null default now()
);
