import { Card, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { BackLink } from '../../ui/back-link.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { Count, ExactTime } from '../../ui/values.tsx'
import { eventTexts } from '../../webhooks/event-texts.ts'
import { Json } from '../../webhooks/json.tsx'
import { webhookTexts } from '../../webhooks/texts.ts'
import type { FeedEvent } from '../../webhooks/types.ts'
import { Deliveries } from '../components/deliveries.tsx'
import { eventTextQuery } from '../webhook-queries.ts'

const route = getRouteApi('/signed-in/account/events/$eventId')

function Back() {
  const texts = useTexts(eventTexts)
  return <BackLink to="/account/events">{texts.title}</BackLink>
}

/** One event as it is in the feed, and its deliveries. */
export function EventPage() {
  const { eventId } = route.useParams()
  const texts = useTexts(eventTexts)
  const { notShown } = useTexts(webhookTexts)
  const query = useQuery(eventTextQuery(eventId))
  return (
    <PageLoaded query={query} back={<Back />} notShown={notShown} notFound={texts.notFound}>
      {text => (text === null ? <PageHeader back={<Back />} title={texts.notFound} /> : <Whole text={text} />)}
    </PageLoaded>
  )
}

function Whole({ text }: { text: string }) {
  const texts = useTexts(eventTexts)
  const { deliveries } = useTexts(webhookTexts)
  const event: FeedEvent = JSON.parse(text)
  const [page, setPage] = useState(1)
  const anywhere = (value: string) => <Text style={{ overflowWrap: 'anywhere' }}>{value}</Text>
  return (
    <>
      <PageHeader back={<Back />} title={event.type} />
      <Stack gap="lg">
        <Card>
          <KeyFacts
            facts={[
              { label: texts.sequence, value: <Count value={event.sequence} /> },
              { label: texts.at, value: <ExactTime at={event.timestamp} /> },
              { label: texts.id, value: anywhere(event.id) },
              { label: texts.feedId, value: anywhere(event.feedId), hint: texts.modes[event.mode] },
            ]}
          />
        </Card>
        <Stack component="section" gap="md" aria-label={texts.body}>
          <Title order={2}>{texts.body}</Title>
          <Json text={JSON.stringify(event, null, 2)} />
        </Stack>
        <Stack component="section" gap="md" aria-label={deliveries.title}>
          <Title order={2}>{deliveries.title}</Title>
          <Deliveries params={{ eventId: event.id }} page={page} onPage={setPage} noneText={texts.noDeliveries} />
        </Stack>
      </Stack>
    </>
  )
}
