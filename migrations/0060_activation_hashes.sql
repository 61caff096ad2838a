-- Keyed hash of the SM-DP+ address and the matching id of the activation code, which only one profile may have. Null: the code has no
-- matching id, or it is that of another profile (repeated_activation_codes), or it was not hashed yet (unhashed_profiles).
alter table profiles add column activation_hash bytea;

-- Ranges of profiles without a hash. The worker hashes the codes in pieces and then deletes the range.
create table unhashed_profiles (
  range_id bigint primary key generated always as identity,
  first_profile_id bigint not null,
  last_profile_id bigint not null
);

-- Profiles that were loaded with the code of another profile, before codes were compared.
create table repeated_activation_codes (
  profile_id bigint primary key,
  other_profile_id bigint not null
);

-- Notes profiles without a hash in a trigger, so that those which a process of the previous version loads, which may still serve, are
-- hashed as well.
create function note_unhashed() returns trigger language plpgsql as $$
begin
  insert into unhashed_profiles (first_profile_id, last_profile_id)
  select min(profile_id), max(profile_id) from loaded_now where activation_hash is null having count(*) > 0;
  return null;
end $$;
create trigger profiles_note_unhashed after insert on profiles referencing new table as loaded_now
  for each statement execute function note_unhashed();

-- The change of the table has locked it against writers, so no profile is missed.
insert into unhashed_profiles (first_profile_id, last_profile_id)
select min(profile_id), max(profile_id) from profiles having count(*) > 0;
