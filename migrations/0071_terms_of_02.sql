-- Versions of campaigns that processes of 0.2 change. 0.2 counts `version` up, but writes neither the version of the terms nor that of a
-- bank's part. So a bank's tag stayed current, and the bank could approve terms that it had not seen.
lock table campaigns, campaign_banks, campaign_segments in share row exclusive mode;

-- 0.2 writes the terms first, and raises the campaign's version later in the same transaction.
create function note_terms_02() returns trigger language plpgsql as $$
begin
  new.terms_version = old.version + 1;
  return new;
end $$;
create trigger campaigns_note_terms_02 before update of card, terminals on campaigns for each row
  when (is_version_02() and (old.card, old.terminals) is distinct from (new.card, new.terminals)) execute function note_terms_02();

-- Its name comes after `campaigns_note_shared_change`, so this trigger runs after that one.
create function note_terms_time_02() returns trigger language plpgsql as $$
begin
  new.shared_at = greatest(new.updated_at, old.updated_at + interval '1 millisecond');
  return new;
end $$;
create trigger campaigns_note_terms_time_02 before update of updated_at on campaigns for each row
  when (is_version_02() and old.version < new.version and new.terms_version = new.version) execute function note_terms_time_02();

-- 0.2 writes states of a bank's part in the statement that raises the campaign's version, so a trigger after it reads the new version.
create function note_part_02() returns trigger language plpgsql as $$
begin
  update campaign_banks b set version = c.version, changed_at = c.updated_at from campaigns c
  where c.cashback_id = new.cashback_id and b.cashback_id = new.cashback_id and b.bank_id = new.bank_id;
  return null;
end $$;
create trigger campaign_banks_note_part_02 after insert or update of status, reporting_stage on campaign_banks for each row
  when (is_version_02()) execute function note_part_02();

-- 0.2 writes segments before it raises the campaign's version. `campaigns_follow_part_change` then writes `changed_at`.
create function note_segment_02() returns trigger language plpgsql as $$
begin
  update campaign_banks b set version = c.version + 1 from campaigns c
  where c.cashback_id = new.cashback_id and b.cashback_id = new.cashback_id and b.bank_id = new.bank_id;
  return null;
end $$;
create trigger campaign_segments_note_segment_02 after insert on campaign_segments for each row
  when (is_version_02()) execute function note_segment_02();
