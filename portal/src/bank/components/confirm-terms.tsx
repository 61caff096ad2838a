import { Stack, Text } from '@mantine/core'
import { campaignTexts } from '../../campaigns/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { Count, Money, Percent, Period } from '../../ui/values.tsx'
import { bankCampaignTexts } from '../campaign-texts.ts'
import type { BankCampaign } from '../types.ts'

/**
 * Shows the terms that a bank agrees to when it confirms a campaign. The decision is sent with the version of the
 * campaign that is shown here, so a bank never agrees to terms that it has not seen.
 */
export function ConfirmTerms({ campaign, text }: { campaign: BankCampaign; text: string }) {
  const texts = useTexts(bankCampaignTexts)
  const { facts } = useTexts(campaignTexts)
  const { percentage, merchantCompensationPercentage, minAmount, maxAmount, maxBudget, dateFrom, dateTo } = campaign
  const currency = campaign.country.currency.code
  return (
    <Stack gap="md">
      <Text>{text}</Text>
      <KeyFacts
        columns={2}
        facts={[
          { label: facts.cashback, value: <Percent value={percentage} /> },
          { label: texts.share, value: <Percent value={100 - merchantCompensationPercentage} /> },
          {
            label: texts.confirmBudget,
            value: maxBudget === null ? facts.noBudget : <Money amount={maxBudget} currency={currency} />,
          },
          { label: facts.period, value: <Period dateFrom={dateFrom} dateTo={dateTo} /> },
          {
            label: facts.receipt,
            value: (
              <>
                <Money amount={minAmount} currency={currency} /> – <Money amount={maxAmount} currency={currency} />
              </>
            ),
          },
          {
            label: texts.segment,
            value: campaign.segment === null ? texts.everyone : <Count value={campaign.segment.customersCount} />,
          },
        ]}
      />
    </Stack>
  )
}
