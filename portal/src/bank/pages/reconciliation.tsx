import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { reconciliationQuery } from '../../campaigns/queries.ts'
import { ReconciliationFigures } from '../../campaigns/reconciliation/figures.tsx'
import { reconciliationTexts } from '../../campaigns/reconciliation/texts.ts'
import type { ReconciledBank } from '../../campaigns/types.ts'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { BackLink } from '../../ui/back-link.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { bankCampaignTexts } from '../campaign-texts.ts'
import { CampaignLoaded } from '../components/campaign-loaded.tsx'
import { NextStep } from '../components/reconciliation-next-step.tsx'
import type { BankCampaign } from '../types.ts'

const route = getRouteApi('/signed-in/bank/campaigns/$cashbackId/reconciliation')

/** The reconciliation of the bank and the merchant: reports, differences, compensation. */
export function ReconciliationPage() {
  const { cashbackId } = route.useParams()
  return (
    <CampaignLoaded cashbackId={cashbackId}>
      {campaign => (
        <>
          <Header campaign={campaign} />
          <Stack gap="lg">
            <NextStep campaign={campaign} />
            {campaign.bankReportingStatus !== null && <Figures campaign={campaign} />}
          </Stack>
        </>
      )}
    </CampaignLoaded>
  )
}

function Header({ campaign }: { campaign: BankCampaign }) {
  const texts = useTexts(bankCampaignTexts)
  const { act } = useTexts(reconciliationTexts)
  const names = useNames()
  const { cashbackId, name, retailer, bankReportingStatus, settlementConfirmed, compensationAcknowledged } = campaign
  const stage = compensationAcknowledged ? 'acknowledged' : settlementConfirmed ? 'settled' : bankReportingStatus
  return (
    <PageHeader
      back={
        <BackLink to="/bank/campaigns/$cashbackId" params={{ cashbackId }} state>
          {texts.backToCampaign(name)}
        </BackLink>
      }
      title={texts.reconciliationPage.title}
      badge={stage && <StatusBadge of="reporting" status={stage} />}
      lead={`${name} · ${names.of(retailer)}`}
      actions={
        bankReportingStatus !== null && (
          <LinkButton to="/bank/campaigns/$cashbackId/act" params={{ cashbackId }} variant="default">
            {act.title}
          </LinkButton>
        )
      }
    />
  )
}

/**
 * Reads the reconciliation as often as the campaign, so that both show the same state: the campaign shows who must act
 * next.
 */
function Figures({ campaign }: { campaign: BankCampaign }) {
  const query = useQuery({
    ...reconciliationQuery(campaign.cashbackId),
    refetchInterval: 30_000,
    refetchOnMount: 'always',
  })
  return (
    <Loaded query={query}>
      {({ banks: [bank] }) => bank && <BankFigures campaign={campaign} bank={bank} query={query} />}
    </Loaded>
  )
}

type Query = Parameters<typeof ReconciliationFigures>[0]['query']

function BankFigures({ campaign, bank, query }: { campaign: BankCampaign; bank: ReconciledBank; query: Query }) {
  const search = route.useSearch()
  const setSearch = useSetSearch<typeof search>()
  const onSearch = (change: object) => setSearch(change as typeof search)
  return <ReconciliationFigures {...{ campaign, bank, query, search, onSearch }} />
}
