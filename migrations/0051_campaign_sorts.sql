-- Each bank's row also holds a copy of the campaign's percentage and beginning, so that a bank's list is filtered and sorted by them
-- without reading the campaigns. Every statement that writes them to a campaign also writes the copies, and the audit compares them.
alter table campaign_banks add column date_from timestamptz, add column percentage numeric;

-- These triggers write the copies for processes of previous versions, which do not know the columns.
create function fill_bank_terms() returns trigger language plpgsql as $$
begin
  select date_from, percentage into new.date_from, new.percentage from campaigns where cashback_id = new.cashback_id;
  return new;
end $$;
create trigger campaign_banks_fill_terms before insert on campaign_banks for each row
  when (new.percentage is null) execute function fill_bank_terms();

create function follow_campaign_terms() returns trigger language plpgsql as $$
begin
  update campaign_banks set date_from = new.date_from, percentage = new.percentage
  where cashback_id = new.cashback_id and (date_from, percentage) is distinct from (new.date_from, new.percentage);
  return null;
end $$;
create trigger campaigns_follow_terms after update of date_from, percentage on campaigns for each row
  when ((old.date_from, old.percentage) is distinct from (new.date_from, new.percentage)) execute function follow_campaign_terms();
