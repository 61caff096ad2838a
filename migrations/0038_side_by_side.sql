-- Processes of version 0.2 can continue to serve on this schema, and can be started again on it when an upgrade is rolled back. They are
-- recognized by the name of their connections, which contains no version.

create function is_version_02() returns boolean language sql stable as $$ select current_setting('application_name') = 'perkline' $$;

-- Version 0.2 refuses to start on a schema with migrations that it does not know, so this view shows it only those that it knows. Later
-- versions see all migrations, and read from `serves` whether they may start.
alter table schema_migrations rename to applied_migrations;
-- the lowest version that may serve after this migration is applied; null: unknown
alter table applied_migrations add column serves text;
update applied_migrations set serves = '0.2';
create view schema_migrations as select * from applied_migrations where version <= 13 or not is_version_02();

-- Triggers that write the columns and counts of campaigns that 0.2 does not write.
create function fill_bank_part() returns trigger language plpgsql as $$
begin
  select status, date_to into new.campaign_status, new.date_to from campaigns where cashback_id = new.cashback_id;
  -- A campaign made by the same statement is not found yet; `campaigns_follow_insert` corrects these values.
  new.campaign_status = coalesce(new.campaign_status, 'awaitingBankApproval');
  new.date_to = coalesce(new.date_to, now());
  return new;
end $$;
create trigger campaign_banks_fill before insert on campaign_banks for each row
  when (new.campaign_status is null) execute function fill_bank_part();

create function count_campaigns(party uuid, campaign text, bank text, change int) returns void language sql as $$
  insert into campaign_counts (party_id, campaign_status, bank_status, campaigns) values (party, campaign, bank, change)
  on conflict (party_id, campaign_status, bank_status) do update set campaigns = campaign_counts.campaigns + excluded.campaigns
$$;

create function follow_campaign(id uuid) returns void language sql as $$
  update campaign_banks b set campaign_status = c.status, date_to = c.date_to from campaigns c
  where c.cashback_id = id and b.cashback_id = id and (b.campaign_status, b.date_to) is distinct from (c.status, c.date_to);
  update campaigns c set awaits_merchant = not awaits_merchant
  where cashback_id = id and awaits_merchant <> (status = 'awaitingCompensationPayment'
    or (created_by_bank_id is null and status in ('awaitingBankApproval', 'awaitingMerchantApproval') and exists (
      select from campaign_banks b where b.cashback_id = id and b.status = 'approved'))
    or (status = 'awaitingCompensationConfirmation' and exists (
      select from campaign_banks b where b.cashback_id = id
        and b.reporting_stage in ('awaitingMerchantReconciliationConfirmation', 'awaitingCompensationConfirmation'))))
$$;

create function follow_campaign_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then perform count_campaigns(new.merchant_id, new.status, '', 1);
  elsif new.status <> old.status then
    perform count_campaigns(new.merchant_id, old.status, '', -1);
    perform count_campaigns(new.merchant_id, new.status, '', 1);
  end if;
  perform follow_campaign(new.cashback_id);
  return null;
end $$;
create trigger campaigns_follow_insert after insert on campaigns for each row
  when (is_version_02()) execute function follow_campaign_change();
create trigger campaigns_follow_update after update of status, date_to on campaigns for each row
  when (is_version_02()) execute function follow_campaign_change();

create function follow_bank_change() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then perform count_campaigns(old.bank_id, old.campaign_status, old.status, -1); end if;
  if tg_op <> 'DELETE' then perform count_campaigns(new.bank_id, new.campaign_status, new.status, 1); end if;
  perform follow_campaign(coalesce(new.cashback_id, old.cashback_id));
  return null;
end $$;
create trigger campaign_banks_follow_insert after insert or delete on campaign_banks for each row
  when (is_version_02()) execute function follow_bank_change();
create trigger campaign_banks_follow_update after update of status, reporting_stage, campaign_status on campaign_banks for each row
  when (is_version_02()) execute function follow_bank_change();
