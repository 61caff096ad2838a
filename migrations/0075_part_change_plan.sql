-- The platform plans a statement each time it runs, so this function planned its statement for each campaign that changed, which took
-- longer than the statement itself. The kept plan finds the rows by the primary key, however small the table was when it was made.
alter function follow_part_change() set plan_cache_mode = force_generic_plan;
alter function follow_part_change() set enable_seqscan = off;
