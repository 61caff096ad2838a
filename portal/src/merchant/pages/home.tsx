import { getRouteApi } from '@tanstack/react-router'
import { HomeOverview } from '../../campaigns/home/overview.tsx'
import type { Home } from '../../campaigns/types.ts'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange, useSession } from '../../session/use-session.ts'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { BankCampaigns } from '../components/bank-campaigns.tsx'
import { GroupTiles } from '../components/group-tiles.tsx'
import { MerchantTask } from '../components/task-card.tsx'
import { homeQuery } from '../queries.ts'
import { merchantTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/merchant/')

/** The home of a merchant: its open tasks, the banks that it waits for, and counts of campaigns. */
export function HomePage() {
  const { home: texts, campaigns } = useTexts(merchantTexts)
  const session = useSession()
  const names = useNames()
  const mayChange = useMayChange()
  return (
    <>
      <PageHeader
        title={names.of(session)}
        lead={texts.lead}
        actions={mayChange && <LinkButton to="/merchant/campaigns/new">{campaigns.create}</LinkButton>}
      />
      <HomeOverview
        query={homeQuery}
        search={route.useSearch()}
        counts={({ counts }) => <GroupTiles counts={counts} />}
        card={task => <MerchantTask task={task} />}
        between={({ bankCampaigns }) => <BankCampaigns campaigns={bankCampaigns} />}
        none={({ counts }) => <Nothing counts={counts} />}
      />
    </>
  )
}

function Nothing({ counts }: Pick<Home, 'counts'>) {
  const { home: texts } = useTexts(merchantTexts)
  const isNew = Object.values(counts.byStatus).every(count => count === 0)
  return isNew ? (
    <Empty title={texts.first} text={texts.firstText} />
  ) : (
    <Empty title={texts.nothing} text={texts.nothingText} />
  )
}
