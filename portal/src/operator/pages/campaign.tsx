import { Button, Card, Stack, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, api } from '../../api/client.ts'
import { CampaignFacts } from '../../campaigns/detail/campaign-facts.tsx'
import { CampaignLifeLine } from '../../campaigns/detail/campaign-life-line.tsx'
import { useAction } from '../../campaigns/detail/use-action.ts'
import { HistoryPages } from '../../campaigns/history/campaign-history.tsx'
import { unavailableTexts } from '../../campaigns/texts.ts'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { Count, Money, none } from '../../ui/values.tsx'
import { type CampaignWithHistory, campaignHistoryQuery, campaignQuery, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/campaigns/$cashbackId')

/** One campaign with its whole history. */
export function CampaignPage() {
  const { cashbackId } = route.useParams()
  const query = useQuery(campaignQuery(cashbackId))
  const { campaigns: texts } = useTexts(operatorTexts)
  const unavailable = useTexts(unavailableTexts)
  return (
    <PageLoaded query={query} back={<BackLink to="/operator/campaigns">{texts.back}</BackLink>} {...unavailable}>
      {campaign => <Whole campaign={campaign} query={query} />}
    </PageLoaded>
  )
}

type Props = { campaign: CampaignWithHistory; query: ReturnType<typeof useQuery<CampaignWithHistory>> }

function Whole({ campaign, query }: Props) {
  const names = useNames()
  const { campaigns: texts } = useTexts(operatorTexts)
  const { retailer, createdByType } = campaign
  const history = useInfiniteQuery(campaignHistoryQuery(campaign))
  const by = createdByType === 'bank' ? texts.byBank : texts.by
  return (
    <>
      <PageHeader
        back={<BackLink to="/operator/campaigns">{texts.back}</BackLink>}
        title={campaign.name}
        badge={<StatusBadge of="campaign" status={campaign.status} />}
        lead={by(names.of(retailer))}
        actions={<Complete campaign={campaign} />}
      />
      <Stack gap="lg">
        <Card>
          <CampaignLifeLine campaign={campaign} />
        </Card>
        <CampaignFacts campaign={campaign} />
        <section>
          <Title order={2} mb="sm">
            {texts.banks}
          </Title>
          <DataTable
            label={texts.banks}
            columns={useColumns(campaign)}
            query={query}
            rows={campaign.banks}
            rowKey={({ id }) => id}
          />
        </section>
        <Card component="section">
          <Title order={2} mb="md">
            {texts.history}
          </Title>
          <HistoryPages query={history} banks={campaign.banks} />
        </Card>
      </Stack>
    </>
  )
}

function Complete({ campaign: { cashbackId, status } }: Pick<Props, 'campaign'>) {
  const { campaigns: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  const changed = useOperatorChanged()
  const question = {
    title: texts.completeTitle,
    text: texts.completeText,
    action: texts.complete,
    done: texts.completed,
  }
  const action = useAction(
    question,
    () => answer(api.POST('/admin/campaigns/{cashbackId}/complete', { params: { path: { cashbackId } } })),
    changed,
  )
  if (!mayChange || status !== 'compensationReceived') return null
  return (
    <Button loading={action.isPending} onClick={action.ask}>
      {texts.complete}
    </Button>
  )
}

function useColumns(campaign: CampaignWithHistory): Column<CampaignWithHistory['banks'][number]>[] {
  const { campaigns: texts } = useTexts(operatorTexts)
  const { reporting: stages } = useTexts(statusTexts)
  const currency = campaign.country.currency.code
  return [
    { key: 'bank', title: texts.bank, cell: ({ name }) => <b>{name}</b> },
    {
      key: 'decision',
      title: texts.decision,
      cell: ({ status }) => <StatusBadge of="participation" status={status} />,
    },
    {
      key: 'stage',
      title: texts.reconciliation,
      cell: ({ stage }) => (stage === null ? none : stages[stage]),
    },
    {
      key: 'compensation',
      title: texts.compensation,
      align: 'right',
      cell: ({ expectedCompensation }) => <Money amount={expectedCompensation} currency={currency} />,
    },
    {
      key: 'customers',
      title: texts.customers,
      align: 'right',
      cell: ({ segmentCustomers, hasSegment }) => (hasSegment ? <Count value={segmentCustomers} /> : texts.everyone),
    },
  ]
}
