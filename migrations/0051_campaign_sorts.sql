-- The percentage and the beginning of a campaign beside each of its banks, as the name and the end are: a bank's list is filtered and put
-- in order by them without a look at each campaign. Whoever writes them to a campaign writes them here, too, and the audit compares both.
alter table campaign_banks add column date_from timestamptz, add column percentage numeric;

-- What versions before this one do not write.
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
