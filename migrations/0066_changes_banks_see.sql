-- When a campaign last changed in a way that a bank sees. A bank must not learn from `updatedAt` when other banks decide.

-- The last change of the status or of the terms, which every bank sees; null: the last change of all.
alter table campaigns add column shared_at timestamptz;
-- The last change of the bank's own part or segment; null: not since this migration, so `shared_at` is not before it.
alter table campaign_banks add column changed_at timestamptz;

create function note_shared_change() returns trigger language plpgsql as $$
begin
  new.shared_at = case when (old.status, old.terms_version) is distinct from (new.status, new.terms_version)
    then new.updated_at else old.updated_at end;
  return new;
end $$;
create trigger campaigns_note_shared_change before update of updated_at on campaigns for each row
  when (old.shared_at is null or (old.status, old.terms_version) is distinct from (new.status, new.terms_version))
  execute function note_shared_change();

-- Writes `changed_at` for processes of previous versions, which do not know the column.
create function follow_part_change() returns trigger language plpgsql as $$
begin
  update campaign_banks set changed_at = new.updated_at
  where cashback_id = new.cashback_id and version = new.version and changed_at is distinct from new.updated_at;
  return null;
end $$;
create trigger campaigns_follow_part_change after update of updated_at on campaigns for each row
  when (old.version <> new.version) execute function follow_part_change();
