-- The parts of a bank's list that change with the state are texts too, which PostgreSQL itself makes of their columns with each write:
-- so they cannot be older than these, and a read of ten thousand campaigns does not build them anew.

-- As every instant is written in answers. What it is made of is only stable by its declaration, because of names of months.
create function instant_text(instant timestamptz) returns text immutable strict parallel safe language sql as
  $$ select to_char(instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

alter table campaigns add column standing text not null generated always as
  (',"status":"' || status || '","updatedAt":"' || instant_text(updated_at) || '"') stored;

-- The bank's own part. How a stage is told is a matter of the lifecycle (`campaigns/lifecycle.ts`); the audit compares both.
alter table campaign_banks add column participation text not null generated always as (
  ',"banks":[{"id":"' || bank_id::text || '","status":"' || status
    || '","settlementConfirmed":' || case when reporting_stage in ('settled', 'acknowledged') then 'true' else 'false' end
    || ',"bankReportingStatus":' || case
      when reporting_stage is null then 'null'
      when reporting_stage in ('settled', 'acknowledged') then '"awaitingCompensationConfirmation"'
      else '"' || reporting_stage || '"' end
    || ',"hasBankReport":' || case when bank_report_uploads > 0 then 'true' else 'false' end
    || ',"hasSecondBankReport":' || case when bank_report_uploads > 1 then 'true' else 'false' end
    || ',"merchantReportUploadsCount":' || merchant_report_uploads::text
    || '}],"expectedCompensation":' || coalesce(trim_scale(expected_compensation)::text, 'null')
) stored;
