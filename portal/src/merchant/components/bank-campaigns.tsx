import { Alert, Card, Group, List, Text, Title } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import type { Home } from '../../campaigns/types.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { merchantTexts } from '../texts.ts'

/**
 * Campaigns that banks have created and the merchant pays for. The merchant does not approve them, so its home page
 * lists them.
 */
export function BankCampaigns({ campaigns: { data, hasMore } }: { campaigns: Home['bankCampaigns'] }) {
  const { home: texts } = useTexts(merchantTexts)
  if (data.length === 0) return null
  return (
    <Card component="section" aria-label={texts.byBanks}>
      <Title order={2} mb="xs">
        {texts.byBanks}
      </Title>
      <Alert color="blue" icon={<IconInfoCircle />} mb="sm">
        {texts.byBanksText}
      </Alert>
      <List listStyleType="none" spacing="sm">
        {data.map(campaign => (
          <List.Item key={campaign.cashbackId}>
            <BankCampaign campaign={campaign} />
          </List.Item>
        ))}
      </List>
      {hasMore && (
        <Text size="sm" c="dimmed" mt="sm">
          {texts.moreByBanks}
        </Text>
      )}
    </Card>
  )
}

function BankCampaign({ campaign }: { campaign: Home['bankCampaigns']['data'][number] }) {
  const { home: texts } = useTexts(merchantTexts)
  const format = useFormat()
  const { cashbackId, name, bankName, status, dateFrom, dateTo, maxBudget, currency } = campaign
  const share = texts.share(
    format.percent(campaign.merchantCompensationPercentage),
    format.percent(campaign.percentage),
  )
  return (
    <>
      <Group gap="xs">
        <LinkAnchor to="/merchant/campaigns/$cashbackId" params={{ cashbackId }} fw={600}>
          {name}
        </LinkAnchor>
        <StatusBadge of="campaign" status={status} />
      </Group>
      <Text size="sm">
        {[share, maxBudget !== null && texts.upTo(format.money(maxBudget, currency))].filter(Boolean).join(' · ')}
      </Text>
      <Text size="sm" c="dimmed">
        {`${texts.byBank(bankName)} · ${format.period(dateFrom, dateTo)}`}
      </Text>
    </>
  )
}
