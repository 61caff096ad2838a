-- The id of the object that an event is about, for the audit: the order of an `order.confirmed`, or the campaign of an event about a
-- campaign. It is null for other events.
alter table events add column subject uuid;
create index events_subject_index on events (subject) where subject is not null;

-- Events from this time on (by the platform's clock) have a subject.
insert into event_positions (name, reached)
select 'events.subjects', now() + offset_ms * interval '1 millisecond' from sandbox_clock;
