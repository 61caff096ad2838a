-- Callers say by which version of a campaign they decide, and the history tells edits and segments too.

-- The version at which the terms last changed. For campaigns that exist already only the present version is known to be current.
alter table campaigns add column terms_version bigint not null default 1;
update campaigns set terms_version = version;

-- The version of the campaign at which this bank's own part last changed.
alter table campaign_banks add column version bigint not null default 0;

-- `version` is the version of the campaign that the entry belongs to, `actor_role` the role with which the actor called; both are null
-- in older entries. `changes` holds {field: [old, new]} of an edit or a segment, which change no state.
alter table campaign_history
  add column version bigint,
  add column actor_role text,
  add column changes jsonb,
  drop constraint campaign_history_states_check,
  add constraint campaign_history_states_check check ((from_state is distinct from to_state) = (changes is null));
