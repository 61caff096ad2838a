-- Personal data that is removed after a time: see docs/data.md.

-- When the lines and the file of a report were removed; its totals stay.
alter table reports add column lines_removed_at timestamptz;
create index reports_kept_index on reports (cashback_id) where lines_removed_at is null;

-- How far the phone numbers of sold profiles have been removed: orders up to this id have been looked at.
create table msisdn_removal (
  only_row boolean primary key default true constraint msisdn_removal_only_row_check check (only_row),
  up_to_order_id uuid not null
);
insert into msisdn_removal (up_to_order_id) values ('00000000-0000-0000-0000-000000000000');
