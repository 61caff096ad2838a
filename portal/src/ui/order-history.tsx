import { Card, Title } from '@mantine/core'
import { useTexts } from '../i18n/preferences.tsx'
import { orderHistoryTexts } from './order-history-texts.ts'
import { Timeline } from './timeline.tsx'

type OrderEvent = keyof (typeof orderHistoryTexts)['en']['events']
type Entry = {
  at: string
  event: OrderEvent
  by: { type: 'system' | 'person'; id: string | null } | null
  count: number | null
}

/** The history of an eSIM order, latest first. It also says who was shown the order's activation data. */
export function OrderHistory({ timeline }: { timeline: readonly Entry[] }) {
  const texts = useTexts(orderHistoryTexts)
  return (
    <Card component="section">
      <Title order={2} mb="md">
        {texts.title}
      </Title>
      <Timeline
        happenings={timeline
          .map(({ at, event, by, count }) => ({
            key: `${at} ${event} ${by?.id}`,
            at,
            title: texts.events[event],
            // A system is shown without its client id, which nobody remembers. In this list, each system belongs to the
            // bank.
            by: by?.type === 'system' ? texts.bySystem : (by?.id ?? null),
            text: count !== null && count > 1 ? texts.times(count) : null,
          }))
          .toReversed()}
      />
    </Card>
  )
}
