import { useQuery } from '@tanstack/react-query'
import { HomeOverview } from '../../campaigns/home-overview.tsx'
import type { Home } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useMayChange, useSession } from '../../session/use-session.ts'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { GroupTiles } from '../parts/group-tiles.tsx'
import { MerchantTask } from '../parts/task-card.tsx'
import { homeQuery } from '../queries.ts'
import { merchantTexts } from '../texts.ts'

/** What waits for the merchant, what it waits for itself, and how many campaigns there are. */
export function HomePage() {
  const { home: texts, campaigns } = useTexts(merchantTexts)
  const session = useSession()
  const mayChange = useMayChange()
  const query = useQuery({ ...homeQuery, refetchInterval: 60_000 })
  return (
    <>
      <PageHeader
        title={session.name}
        lead={texts.lead}
        actions={mayChange && <LinkButton to="/merchant/campaigns/new">{campaigns.create}</LinkButton>}
      />
      <Loaded query={query}>
        {home => (
          <HomeOverview
            home={home}
            none={<Nothing counts={home.counts} />}
            counts={<GroupTiles byStatus={home.counts.byStatus} />}
            card={task => <MerchantTask task={task} />}
          />
        )}
      </Loaded>
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
