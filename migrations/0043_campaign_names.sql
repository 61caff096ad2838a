-- Each bank's row holds a copy of the campaign's name, so that a bank's list is searched and sorted by name without reading the campaigns.
-- Every statement that writes a campaign's name also writes the copies, and the audit compares them.
alter table campaign_banks add column name text;

-- These triggers write the copies for processes of version 0.2, which do not know the column.
create function fill_bank_name() returns trigger language plpgsql as $$
begin
  new.name = (select name from campaigns where cashback_id = new.cashback_id);
  return new;
end $$;
create trigger campaign_banks_fill_name before insert on campaign_banks for each row
  when (new.name is null) execute function fill_bank_name();

create function follow_campaign_name() returns trigger language plpgsql as $$
begin
  update campaign_banks set name = new.name where cashback_id = new.cashback_id and name is distinct from new.name;
  return null;
end $$;
create trigger campaigns_follow_name after insert or update of name on campaigns for each row
  when (is_version_02()) execute function follow_campaign_name();
