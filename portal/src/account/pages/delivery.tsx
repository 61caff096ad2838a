import { Alert, Button, Card, CopyButton, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, api } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { mayChangeWebhooks } from '../../session/rights.ts'
import { useSession } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { useConfirm } from '../../ui/confirm.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { uiTexts } from '../../ui/texts.ts'
import { Count, DateTime, ExactTime, none } from '../../ui/values.tsx'
import { Json } from '../../webhooks/json.tsx'
import { requestText } from '../../webhooks/request-text.ts'
import { webhookTexts } from '../../webhooks/texts.ts'
import type { Attempt, Delivery } from '../../webhooks/types.ts'
import { Outcome, Sequence } from '../components/deliveries.tsx'
import { deliveryQuery, endpointQuery, eventTextQuery, useWebhooksChanged } from '../webhook-queries.ts'

const route = getRouteApi('/signed-in/account/webhooks/$endpointId/$deliveryId')

/** Whether the endpoint of the delivery still exists; null while that is unknown. */
function useEndpointExists(): boolean | null {
  const { endpointId } = route.useParams()
  const { data, error } = useQuery(endpointQuery(endpointId))
  // Looks at the error first, because the query keeps its earlier data after a failed refresh.
  if (isApiError(error, 404)) return false
  return data ? true : null
}

/** A link to the endpoint, or to the list of endpoints if the endpoint is deleted. */
function Back() {
  const texts = useTexts(webhookTexts)
  const { endpointId } = route.useParams()
  if (useEndpointExists() === false) return <BackLink to="/account/webhooks">{texts.title}</BackLink>
  return (
    <BackLink to="/account/webhooks/$endpointId" params={{ endpointId }}>
      {texts.deliveries.title}
    </BackLink>
  )
}

/** One delivery: its request, each attempt, and the possible actions. */
export function DeliveryPage() {
  const { deliveryId } = route.useParams()
  const texts = useTexts(webhookTexts)
  const query = useQuery(deliveryQuery(deliveryId))
  return (
    <PageLoaded query={query} back={<Back />} notShown={texts.notShown} notFound={texts.deliveries.notFound}>
      {delivery => <Whole delivery={delivery} query={query} />}
    </PageLoaded>
  )
}

function Whole({ delivery, query }: { delivery: Delivery; query: Parameters<typeof Attempts>[0]['query'] }) {
  const texts = useTexts(webhookTexts)
  const showsActions = mayChangeWebhooks(useSession())
  const endpointExists = useEndpointExists()
  const { type, state, sequence, replayId, createdAt, nextAttemptAt } = delivery
  const kind = sequence === 0 ? texts.deliveries.isTest : replayId !== null ? texts.deliveries.isReplay : undefined
  return (
    <>
      <PageHeader
        back={<Back />}
        title={type}
        badge={<StatusBadge of="delivery" status={state} />}
        lead={kind}
        actions={showsActions && endpointExists && <Actions delivery={delivery} />}
      />
      <Stack gap="lg">
        {endpointExists === false && <Alert color="gray">{texts.delivery.endpointDeleted}</Alert>}
        <Card>
          <KeyFacts
            facts={[
              { label: texts.deliveries.sequence, value: <Sequence value={sequence} /> },
              { label: texts.deliveries.created, value: <ExactTime at={createdAt} /> },
              { label: texts.deliveries.next, value: <ExactTime at={nextAttemptAt} /> },
              { label: texts.delivery.eventId, value: <EventId delivery={delivery} /> },
            ]}
          />
        </Card>
        <Attempts attempts={delivery.attempts} query={query} />
        <Request delivery={delivery} />
      </Stack>
    </>
  )
}

/** A link to the event. A test delivery (`sequence` 0) has no event in the feed, so only its id is shown. */
function EventId({ delivery: { eventId, sequence } }: { delivery: Delivery }) {
  if (sequence === 0) return <Text style={{ overflowWrap: 'anywhere' }}>{eventId}</Text>
  return (
    <LinkAnchor to="/account/events/$eventId" params={{ eventId }} style={{ overflowWrap: 'anywhere' }}>
      {eventId}
    </LinkAnchor>
  )
}

function Actions({ delivery: { deliveryId, state, sequence } }: { delivery: Delivery }) {
  const texts = useTexts(webhookTexts).delivery
  const changed = useWebhooksChanged()
  const notify = useNotify()
  const confirm = useConfirm()
  const path = { params: { path: { deliveryId } } }
  const retry = useMutation({
    mutationFn: () => answer(api.POST('/partner/v1/webhook-deliveries/{deliveryId}/retry', { ...path, body: {} })),
    onSuccess() {
      void changed()
      notify.done(texts.retried)
    },
    onError: notify.failed,
  })
  const skip = useMutation({
    mutationFn: () => answer(api.POST('/partner/v1/webhook-deliveries/{deliveryId}/skip', { ...path, body: {} })),
    onSuccess: () => void changed(),
    onError: notify.failed,
  })
  const askToSkip = async () => {
    if (await confirm({ title: texts.skipTitle, text: texts.skipText, action: texts.skip })) skip.mutate()
  }
  // A test cannot be retried; people send another one instead.
  const isTest = sequence === 0
  return (
    <>
      {!isTest && (
        <Button loading={retry.isPending} onClick={() => retry.mutate()}>
          {texts.retry}
        </Button>
      )}
      {!isTest && state === 'pending' && (
        <Button variant="default" loading={skip.isPending} onClick={() => void askToSkip()}>
          {texts.skip}
        </Button>
      )}
    </>
  )
}

type AttemptsProps = { attempts: readonly Attempt[]; query: Parameters<typeof DataTable<Attempt>>[0]['query'] }

function Attempts({ attempts, query }: AttemptsProps) {
  const texts = useTexts(webhookTexts).delivery
  const format = useFormat()
  const columns: Column<Attempt>[] = [
    { key: 'attempt', title: texts.attempt, cell: ({ attempt }) => <Count value={attempt} /> },
    { key: 'at', title: texts.at, cell: ({ at }) => <DateTime at={at} /> },
    {
      key: 'duration',
      title: texts.duration,
      align: 'right',
      cell: ({ durationMs }) => (durationMs === null ? none : texts.milliseconds(format.number(durationMs))),
    },
    { key: 'outcome', title: texts.outcome, cell: attempt => <Outcome attempt={attempt} /> },
    {
      key: 'excerpt',
      title: texts.excerpt,
      cell: ({ responseExcerpt }) => (
        <Text component="span" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {responseExcerpt || none}
        </Text>
      ),
    },
  ]
  return (
    <Stack component="section" gap="md" aria-label={texts.attempts}>
      <Title order={2}>{texts.attempts}</Title>
      <DataTable
        label={texts.attempts}
        columns={columns}
        query={query}
        rows={attempts}
        rowKey={({ attempt }) => String(attempt)}
        empty={<Empty title={texts.noAttempts} />}
      />
    </Stack>
  )
}

/** The request of the last attempt. Before any attempt, shows the request that the first attempt will send. */
function Request({ delivery }: { delivery: Delivery }) {
  const texts = useTexts(webhookTexts).delivery
  const { copied: copiedText } = useTexts(uiTexts)
  const { endpointId, eventId, attempts, sequence } = delivery
  const isTest = sequence === 0
  const body = useQuery({ ...eventTextQuery(eventId), enabled: !isTest })
  const endpoint = useQuery(endpointQuery(endpointId))
  const last = attempts.at(-1)
  const show = (text: string | null) => (
    <Json text={requestText(endpoint.data?.url ?? null, delivery, text ?? `(${texts.noBody})`)} />
  )
  return (
    <Stack component="section" gap="md" aria-label={texts.request}>
      <Group justify="space-between">
        <Title order={2}>{texts.request}</Title>
        {body.data && (
          <CopyButton value={body.data}>
            {({ copied, copy }) => (
              <Button variant="default" size="compact-md" onClick={copy}>
                {copied ? copiedText : texts.copy}
              </Button>
            )}
          </CopyButton>
        )}
      </Group>
      <Text c="dimmed">{last ? texts.requestText(last.attempt) : texts.nextRequest}</Text>
      {isTest ? show(null) : <Loaded query={body}>{show}</Loaded>}
    </Stack>
  )
}
