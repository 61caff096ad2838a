-- A replay is deleted when it has ended. Before, it was only marked as finished, and stayed as long as the events. A process of
-- before, which may still serve, marks them as ever: `dropOldEvents` removes those.
delete from webhook_replays where finished_at is not null;

-- Finds the replays of an endpoint, and the oldest of them, which is the next to be handed over.
create index webhook_replays_endpoint_index on webhook_replays (endpoint_id, created_at);
drop index webhook_replays_unfinished_index;
