import { Button, Card, Stack } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { CampaignFacts } from '../../campaigns/detail/campaign-facts.tsx'
import { CampaignLifeLine } from '../../campaigns/detail/campaign-life-line.tsx'
import { CampaignTabs } from '../../campaigns/detail/campaign-tabs.tsx'
import { CustomerCard } from '../../campaigns/detail/customer-card.tsx'
import { TerminalsTable } from '../../campaigns/detail/terminals-table.tsx'
import { CampaignHistory } from '../../campaigns/history/campaign-history.tsx'
import classes from '../../campaigns/parts.module.css'
import { useFormat, useNames, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { fromZoned } from '../../i18n/time-zone.ts'
import { useNow } from '../../session/use-now.ts'
import { useMayChange, useSession } from '../../session/use-session.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { DayInput } from '../../ui/dates.tsx'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { bankCampaignTexts } from '../campaign-texts.ts'
import { BackToList } from '../components/back-to-list.tsx'
import { CampaignLoaded } from '../components/campaign-loaded.tsx'
import { OwnPart } from '../components/own-part.tsx'
import { RejectButton } from '../components/reject-button.tsx'
import { useConfirmCampaign } from '../mutations.ts'
import { campaignTabs } from '../search.ts'
import { blockingText } from '../status-summary.ts'
import type { BankCampaign } from '../types.ts'

const route = getRouteApi('/signed-in/bank/campaigns/$cashbackId')

/** One campaign: its status, its next step, the bank's own part, and all details. */
export function CampaignPage() {
  const { cashbackId } = route.useParams()
  return (
    <CampaignLoaded cashbackId={cashbackId}>
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

function Header({ campaign }: { campaign: BankCampaign }) {
  const texts = useTexts(bankCampaignTexts)
  const format = useFormat()
  const now = useNow()
  const { name, status, createdByType, retailer } = campaign
  const merchant = useNames().of(retailer)
  const origin = createdByType === 'bank' ? texts.byUs(merchant) : texts.ofMerchant(merchant)
  return (
    <PageHeader
      back={<BackToList />}
      title={name}
      badge={<StatusBadge of="campaign" status={status} />}
      lead={`${blockingText(campaign, { now, texts: texts.blocks, format })} ${origin}`}
      actions={<Actions campaign={campaign} />}
    />
  )
}

/** The actions that the campaign's status allows the bank now. */
function Actions({ campaign }: { campaign: BankCampaign }) {
  const texts = useTexts(bankCampaignTexts)
  const mayChange = useMayChange()
  const confirm = useConfirmCampaign(campaign)
  const { cashbackId, createdByType, bankReportingStatus, permissions } = campaign
  const { confirmAbility, rejectAbility, uploadReportAbility, acknowledgeAbility } = permissions
  return (
    <>
      {mayChange && confirmAbility && (
        <Button leftSection={<IconCheck size={17} aria-hidden />} loading={confirm.isPending} onClick={confirm.ask}>
          {createdByType === 'bank' ? texts.start : texts.confirm}
        </Button>
      )}
      {mayChange && createdByType === 'bank' && (
        <LinkButton
          to="/bank/campaigns/new"
          search={{ from: cashbackId }}
          variant="default"
          leftSection={<IconCopy size={17} aria-hidden />}
        >
          {texts.duplicate}
        </LinkButton>
      )}
      {mayChange && rejectAbility && <RejectButton campaign={campaign} />}
      {bankReportingStatus !== null && (
        <LinkButton
          to="/bank/campaigns/$cashbackId/reconciliation"
          params={{ cashbackId }}
          state
          variant={uploadReportAbility || acknowledgeAbility ? 'filled' : 'default'}
        >
          {uploadReportAbility ? texts.toUpload : acknowledgeAbility ? texts.toAcknowledge : texts.reconciliation}
        </LinkButton>
      )}
    </>
  )
}

function Panels({ campaign }: { campaign: BankCampaign }) {
  const { tabs } = useTexts(bankCampaignTexts)
  const session = useSession()
  const search = route.useSearch()
  const setSearch = useSetSearch<typeof search>()
  const contents = {
    offer: (
      <div className={classes.withCard}>
        <Stack gap="lg">
          <OwnPart campaign={campaign} />
          <CampaignFacts campaign={campaign} />
        </Stack>
        <CustomerCard campaign={{ ...campaign, currency: campaign.country.currency.code }} />
      </div>
    ),
    terminals: <Terminals campaign={campaign} />,
    history: (
      <Card>
        <CampaignHistory cashbackId={campaign.cashbackId} banks={[{ id: session.id ?? '', name: session.name }]} />
      </Card>
    ),
  }
  return (
    <CampaignTabs
      parts={campaignTabs.map(tab => ({ tab, name: tabs[tab], content: contents[tab] }))}
      tab={search.tab ?? 'offer'}
      onTab={tab => setSearch({ tab, find: undefined, since: undefined })}
    />
  )
}

/** All terminals, or those added since a day in the person's time zone. */
function Terminals({ campaign: { cashbackId, terminalsPlatform } }: { campaign: BankCampaign }) {
  const texts = useTexts(bankCampaignTexts)
  const { timeZone } = usePreferences()
  const search = route.useSearch()
  const setSearch = useSetSearch<typeof search>()
  const { since } = search
  return (
    <Stack gap="md">
      <DayInput
        label={texts.since}
        maw={280}
        clearable
        value={since ?? null}
        onChange={value => setSearch({ since: value ?? undefined })}
      />
      <TerminalsTable
        cashbackId={cashbackId}
        isPlatform={terminalsPlatform}
        search={search}
        onSearch={change => setSearch(change)}
        since={since && fromZoned(since, timeZone).toISOString()}
      />
    </Stack>
  )
}
