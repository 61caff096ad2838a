import { Link } from '@tanstack/react-router'
import { homeTexts } from '../../campaigns/home/texts.ts'
import { countOf, groupNames } from '../../campaigns/list/campaign-groups.ts'
import { CountTiles } from '../../campaigns/list/count-tiles.tsx'
import type { Home } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { merchantTexts } from '../texts.ts'

/** The number of campaigns in each group of statuses. Each figure is a link to the campaigns of its group. */
export function GroupTiles({ counts: { byStatus } }: Pick<Home, 'counts'>) {
  const { home } = useTexts(merchantTexts)
  const { groups } = useTexts(homeTexts)
  return (
    <CountTiles
      title={home.counts}
      tiles={groupNames.map(key => ({ key, label: groups[key], count: countOf(key, byStatus) }))}
      link={({ key }, children, look) => (
        <Link to="/merchant/campaigns" search={{ group: key }} className={look}>
          {children}
        </Link>
      )}
    />
  )
}
