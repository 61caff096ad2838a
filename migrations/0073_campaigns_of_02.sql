-- It takes no lock of a table: since 0071, triggers note what 0.2 changes meanwhile.
--
-- Campaigns that 0.2 has changed already, as far as banks can still decide about them. Each change by a later version has an entry with its
-- version in the history. Where entries are missing, 0.2 may have changed the terms. So banks read these campaigns again. (After the removal
-- of a customer from a segment entries are missing, too. There the bank reads the campaign once more than it must.)
with mended as (
  update campaigns c set terms_version = version, shared_at = updated_at
  where version > terms_version and status not in ('completed', 'declined', 'expired', 'deleted')
    and version - terms_version > (
      select count(distinct h.version) from campaign_history h
      where h.cashback_id = c.cashback_id and h.version > c.terms_version and h.version <= c.version)
  returning cashback_id
)
update bank_lists set version = version + 1
where bank_id in (select bank_id from campaign_banks join mended using (cashback_id));
