import { Stack } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { HomeOverview } from '../../campaigns/home/overview.tsx'
import { homeTexts } from '../../campaigns/home/texts.ts'
import { countOf, groupNames } from '../../campaigns/list/campaign-groups.ts'
import { CountTiles } from '../../campaigns/list/count-tiles.tsx'
import type { Home } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { maySeeCampaigns } from '../../session/rights.ts'
import { useSession } from '../../session/use-session.ts'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { BankTask } from '../components/bank-task.tsx'
import { homeQuery } from '../queries.ts'
import { decisions } from '../search.ts'
import { bankTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/bank/')

/**
 * The home of a bank: its open tasks, tasks of others that it waits for, and counts of campaigns. Viewers see where
 * they can go instead.
 */
export function HomePage() {
  const { home: texts } = useTexts(bankTexts)
  const session = useSession()
  const isForCampaigns = maySeeCampaigns(session)
  return (
    <>
      <PageHeader title={session.name} lead={isForCampaigns ? texts.lead : texts.viewerLead} />
      {isForCampaigns ? <CampaignsHome /> : <ViewerHome />}
    </>
  )
}

function CampaignsHome() {
  const { home: texts } = useTexts(bankTexts)
  return (
    <HomeOverview
      query={homeQuery}
      search={route.useSearch()}
      counts={({ counts }) => <Counts counts={counts} />}
      card={task => <BankTask task={task} />}
      none={() => <Empty title={texts.nothing} text={texts.nothingText} />}
    />
  )
}

/** Counts by the campaigns' status and by the bank's decision; each figure is a link to those campaigns. */
function Counts({ counts: { byStatus, byBankStatus } }: Pick<Home, 'counts'>) {
  const { home: texts } = useTexts(bankTexts)
  const { groups } = useTexts(homeTexts)
  const { participation } = useTexts(statusTexts)
  return (
    <Stack gap="xl">
      <CountTiles
        title={texts.counts}
        tiles={groupNames.map(key => ({ key, label: groups[key], count: countOf(key, byStatus) }))}
        link={({ key }, children, look) => (
          <Link to="/bank/campaigns" search={{ group: key }} className={look}>
            {children}
          </Link>
        )}
      />
      <CountTiles
        title={texts.decisions}
        tiles={decisions.map(key => ({ key, label: participation[key], count: byBankStatus?.[key] ?? 0 }))}
        link={({ key }, children, look) => (
          <Link to="/bank/campaigns" search={{ decision: key }} className={look}>
            {children}
          </Link>
        )}
      />
    </Stack>
  )
}

function ViewerHome() {
  const { home: texts } = useTexts(bankTexts)
  return (
    <Empty
      title={texts.viewer}
      text={texts.viewerText}
      action={
        <LinkButton to="/bank/esim/sales" mt="sm">
          {texts.toSales}
        </LinkButton>
      }
    />
  )
}
