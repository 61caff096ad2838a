-- What an event is about, for the audit: the order of `order.confirmed`, and the campaign of what tells of one; else null.
alter table events add column subject uuid;
create index events_subject_index on events (subject) where subject is not null;

-- From then on, by the clock of the rules, events have their subjects.
insert into event_positions (name, reached)
select 'events.subjects', now() + offset_ms * interval '1 millisecond' from sandbox_clock;
