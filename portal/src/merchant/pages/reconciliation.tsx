import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { reconciliationQuery } from '../../campaigns/queries.ts'
import { ReconciliationFigures } from '../../campaigns/reconciliation/figures.tsx'
import { reconciliationTexts } from '../../campaigns/reconciliation/texts.ts'
import type { CampaignDetails, ReconciledBank } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { BackLink } from '../../ui/back-link.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'
import { CampaignLoaded } from '../components/campaign-loaded.tsx'
import { NextStep } from '../components/reconciliation-next-step.tsx'

const route = getRouteApi('/signed-in/merchant/campaigns/$cashbackId/banks/$bankId')

/** The reconciliation of the merchant and a bank: reports, differences, settlement. */
export function ReconciliationPage() {
  const { cashbackId } = route.useParams()
  const reconciliation = useQuery({ ...reconciliationQuery(cashbackId), refetchInterval: 30_000 })
  return (
    <CampaignLoaded cashbackId={cashbackId}>
      {campaign => (
        <Loaded query={reconciliation}>
          {({ banks }) => <BankReconciliation campaign={campaign} banks={banks} query={reconciliation} />}
        </Loaded>
      )}
    </CampaignLoaded>
  )
}

type Query = Parameters<typeof ReconciliationFigures>[0]['query']
type Props = { campaign: CampaignDetails; banks: readonly ReconciledBank[]; query: Query }

function BankReconciliation({ campaign, banks, query }: Props) {
  const texts = useTexts(campaignPageTexts)
  const { act } = useTexts(reconciliationTexts)
  const { bankId } = route.useParams()
  const { cashbackId, name } = campaign
  const bank = banks.find(({ id }) => id === bankId)
  const stage = bank?.settlementConfirmed ? 'settled' : (bank?.bankReportingStatus ?? null)
  const back = (
    <BackLink to="/merchant/campaigns/$cashbackId" params={{ cashbackId }} search={{ tab: 'banks' }} state>
      {texts.backToCampaign(name)}
    </BackLink>
  )
  if (!bank)
    return (
      <>
        <PageHeader back={back} title={name} />
        <Empty title={texts.reconciliationPage.notInvited} />
      </>
    )
  return (
    <>
      <PageHeader
        back={back}
        title={texts.reconciliationPage.title(bank.name)}
        badge={stage && <StatusBadge of="reporting" status={stage} />}
        lead={name}
        actions={
          bank.bankReportingStatus !== null && (
            <LinkButton
              to="/merchant/campaigns/$cashbackId/banks/$bankId/act"
              params={{ cashbackId, bankId }}
              variant="default"
            >
              {act.title}
            </LinkButton>
          )
        }
      />
      <Stack gap="lg">
        <NextStep campaign={campaign} bank={bank} />
        {bank.bankReportingStatus !== null && <Figures campaign={campaign} bank={bank} query={query} />}
      </Stack>
    </>
  )
}

function Figures({ campaign, bank, query }: { campaign: CampaignDetails; bank: ReconciledBank; query: Query }) {
  const search = route.useSearch()
  const setSearch = useSetSearch<typeof search>()
  const onSearch = (change: object) => setSearch(change as typeof search)
  return <ReconciliationFigures {...{ campaign, bank, query, search, onSearch }} />
}
