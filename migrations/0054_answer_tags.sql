-- The ETag of a stored answer, for the `If-Match` of the next change. It is null where the answer has none, and where a process of the
-- previous version stored the answer.
alter table idempotency_answers add column etag text;
