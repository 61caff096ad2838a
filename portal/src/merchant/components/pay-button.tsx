import { Button, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reconciliationQuery } from '../../campaigns/queries.ts'
import type { CampaignDetails, ReconciledBank } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { Money } from '../../ui/values.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'
import { usePay } from '../mutations.ts'

/** Marks the compensation as paid. The confirmation shows each bank's amount and the total. */
export function PayButton({ campaign }: { campaign: CampaignDetails }) {
  const { data } = useQuery(reconciliationQuery(campaign.cashbackId))
  if (!data) return null
  return <Pay campaign={campaign} banks={data.banks} />
}

function Pay({ campaign, banks }: { campaign: CampaignDetails; banks: readonly ReconciledBank[] }) {
  const texts = useTexts(campaignPageTexts)
  const pay = usePay(
    { ...campaign, etag: olderTag(campaign.etag, banks[0]?.etag ?? null) },
    <Stack gap="sm">
      <Text>{texts.payText}</Text>
      <Amounts campaign={campaign} banks={banks} />
    </Stack>,
  )
  return (
    <Button loading={pay.isPending} onClick={pay.ask}>
      {texts.pay}
    </Button>
  )
}

/**
 * The confirmation shows figures from two queries. If the queries returned different versions, the older version is
 * sent, so that the platform refuses the request.
 */
const olderTag = (one: string | null, other: string | null): string | null =>
  other !== null && Number(other.slice(1, -1)) < Number(one?.slice(1, -1)) ? other : one

type Props = {
  campaign: Pick<CampaignDetails, 'expectedCompensation' | 'country'>
  banks: readonly ReconciledBank[]
}

/** The merchant's compensation to each settled bank, and the total. */
function Amounts({ campaign: { expectedCompensation, country }, banks }: Props) {
  const texts = useTexts(campaignPageTexts)
  const currency = country.currency.code
  return (
    <Table aria-label={texts.amounts} w="auto" miw={280}>
      <Table.Tbody>
        {banks
          .filter(({ settlementConfirmed }) => settlementConfirmed)
          .map(({ id, name, expectedCompensation: amount }) => (
            <Table.Tr key={id}>
              <Table.Th scope="row" fw={400}>
                {name}
              </Table.Th>
              <Table.Td ta="end">
                <Money amount={amount} currency={currency} />
              </Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
      <Table.Tfoot>
        <Table.Tr>
          <Table.Th scope="row">{texts.total}</Table.Th>
          <Table.Td ta="end" fw={700}>
            <Money amount={expectedCompensation} currency={currency} />
          </Table.Td>
        </Table.Tr>
      </Table.Tfoot>
    </Table>
  )
}
