import { Button, Card, Stack } from '@mantine/core'
import { IconCopy, IconPencil, IconRocket, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { BankDecisions } from '../../campaigns/detail/bank-decisions.tsx'
import { CampaignFacts } from '../../campaigns/detail/campaign-facts.tsx'
import { CampaignLifeLine } from '../../campaigns/detail/campaign-life-line.tsx'
import { CampaignTabs } from '../../campaigns/detail/campaign-tabs.tsx'
import { CustomerCard } from '../../campaigns/detail/customer-card.tsx'
import { TerminalsTable } from '../../campaigns/detail/terminals-table.tsx'
import { CampaignHistory } from '../../campaigns/history/campaign-history.tsx'
import { isClosed } from '../../campaigns/list/campaign-groups.ts'
import classes from '../../campaigns/parts.module.css'
import { decisionsQuery } from '../../campaigns/queries.ts'
import type { CampaignDetails } from '../../campaigns/types.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useNow } from '../../session/use-now.ts'
import { useMayChange, useSession } from '../../session/use-session.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor, LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'
import { BackToList } from '../components/back-to-list.tsx'
import { CampaignLoaded } from '../components/campaign-loaded.tsx'
import { PayButton } from '../components/pay-button.tsx'
import { ReconciliationStep } from '../components/reconciliation-step.tsx'
import { SegmentPanel } from '../components/segment-panel.tsx'
import { useLaunch, useRemove } from '../mutations.ts'
import { campaignQuery } from '../queries.ts'
import { campaignTabs } from '../search.ts'
import { blockingText } from '../status-summary.ts'

const route = getRouteApi('/signed-in/merchant/campaigns/$cashbackId')

/** One campaign: its status, its next step, and all details. */
export function CampaignPage() {
  const { cashbackId } = route.useParams()
  return (
    <CampaignLoaded cashbackId={cashbackId} everyMs={30_000}>
      {campaign => (
        <>
          <Header campaign={campaign} />
          <Stack gap="lg">
            <Card>
              <CampaignLifeLine campaign={campaign} />
            </Card>
            <Panels campaign={campaign} />
          </Stack>
        </>
      )}
    </CampaignLoaded>
  )
}

function Header({ campaign }: { campaign: CampaignDetails }) {
  const texts = useTexts(campaignPageTexts)
  const format = useFormat()
  const now = useNow()
  const author = campaign.banks.find(({ id }) => id === campaign.createdByBankId)
  const lead = blockingText(campaign, { now, texts: texts.blocks, format })
  return (
    <PageHeader
      back={<BackToList />}
      title={campaign.name}
      badge={<StatusBadge of="campaign" status={campaign.status} />}
      lead={author ? `${lead} ${texts.byBank(author.name)}.` : lead}
      actions={<Actions campaign={campaign} />}
    />
  )
}

/** The actions that the campaign's status allows now, for people who may change something. */
function Actions({ campaign }: { campaign: CampaignDetails }) {
  const texts = useTexts(campaignPageTexts)
  const mayChange = useMayChange()
  const [launch, remove] = [useLaunch(campaign), useRemove(campaign)]
  const { cashbackId, status } = campaign
  const { editAbility, deleteAbility, confirmAbility } = campaign.permissions
  if (!mayChange) return null
  return (
    <>
      {confirmAbility && (
        <Button leftSection={<IconRocket size={17} aria-hidden />} loading={launch.isPending} onClick={launch.ask}>
          {texts.launch}
        </Button>
      )}
      {status === 'awaitingCompensationPayment' && <PayButton campaign={campaign} />}
      <ReconciliationStep campaign={campaign} />
      {editAbility && (
        <LinkButton
          to="/merchant/campaigns/$cashbackId/edit"
          params={{ cashbackId }}
          state
          variant="default"
          leftSection={<IconPencil size={17} aria-hidden />}
        >
          {texts.edit}
        </LinkButton>
      )}
      <LinkButton
        to="/merchant/campaigns/new"
        search={{ from: cashbackId }}
        variant="default"
        leftSection={<IconCopy size={17} aria-hidden />}
      >
        {texts.duplicate}
      </LinkButton>
      {deleteAbility && (
        <Button
          variant="subtle"
          color="red"
          leftSection={<IconTrash size={17} aria-hidden />}
          loading={remove.isPending}
          onClick={remove.ask}
        >
          {texts.remove}
        </Button>
      )}
    </>
  )
}

function Panels({ campaign }: { campaign: CampaignDetails }) {
  const { tabs } = useTexts(campaignPageTexts)
  const session = useSession()
  const search = route.useSearch()
  const setSearch = useSetSearch<typeof search>()
  const { cashbackId, terminalsPlatform, banks } = campaign
  const contents = {
    offer: (
      <div className={classes.withCard}>
        <CampaignFacts campaign={campaign} />
        <CustomerCard campaign={{ ...campaign, retailer: session, currency: campaign.country.currency.code }} />
      </div>
    ),
    banks: <Banks campaign={campaign} />,
    terminals: (
      <TerminalsTable
        cashbackId={cashbackId}
        isPlatform={terminalsPlatform}
        search={search}
        onSearch={change => setSearch(change)}
      />
    ),
    segment: <SegmentPanel campaign={campaign} />,
    history: (
      <Card>
        <CampaignHistory cashbackId={cashbackId} banks={banks} />
      </Card>
    ),
  }
  return (
    <CampaignTabs
      parts={campaignTabs.map(tab => ({ tab, name: tabs[tab], content: contents[tab] }))}
      tab={search.tab ?? 'offer'}
      onTab={tab => setSearch({ tab, find: undefined })}
    />
  )
}

function Banks({ campaign: { cashbackId, banks, status } }: { campaign: CampaignDetails }) {
  const query = useQuery(campaignQuery(cashbackId))
  const decisions = useQuery(decisionsQuery(cashbackId))
  return (
    <BankDecisions
      banks={banks}
      query={query}
      decisions={decisions.data}
      isClosed={isClosed(status)}
      link={({ id, name, bankReportingStatus }) =>
        bankReportingStatus === null ? null : (
          <LinkAnchor
            to="/merchant/campaigns/$cashbackId/banks/$bankId"
            params={{ cashbackId, bankId: id }}
            state
            fw={600}
          >
            {name}
          </LinkAnchor>
        )
      }
    />
  )
}
