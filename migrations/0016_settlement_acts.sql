-- Differences of one kind, page by page: without it a page of a rare kind reads all differences of both reports.
create index report_differences_kind_key on report_differences (report_id, kind, place);

-- SHA-256 of the uploaded file, for the settlement act. Null on reports from before this migration: computed when first needed.
alter table reports add column sha256 bytea constraint reports_sha256_check check (octet_length(sha256) = 32);
