-- Differences of one kind, page by page: without it a page of a rare kind reads all differences of both reports.
create index report_differences_kind_key on report_differences (report_id, kind, place);
