-- What the home pages of merchants and banks read: the campaigns that are not over, however many are.

create index campaigns_open_index on campaigns (merchant_id, date_to, cashback_id) where status in (
  'awaitingBankApproval', 'awaitingMerchantApproval', 'approved', 'active', 'awaitingCompensationConfirmation',
  'awaitingCompensationPayment', 'paymentConfirmed');

create index campaign_banks_open_index on campaign_banks (bank_id, cashback_id)
  where status in ('pending', 'approved') and reporting_stage is distinct from 'acknowledged';
