-- A report whose lines, differences and file are removed piece by piece is marked as removed first, so that nobody reads the rest.
-- Whether it still has some of them.
alter table reports add column has_rows_left boolean not null default false;
create index reports_rows_left_index on reports (cashback_id, report_id) where has_rows_left;
