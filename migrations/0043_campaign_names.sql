-- The name of a campaign beside each of its banks: a bank's list is searched and put in order by it without a look at each campaign.
-- Whoever writes a campaign's name writes it here, too, and the audit compares both.
alter table campaign_banks add column name text;

-- What 0.2 does not write.
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
