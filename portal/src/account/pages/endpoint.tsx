import { Alert, Card, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { mayChangeWebhooks } from '../../session/rights.ts'
import { useSession } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { Count, ExactTime } from '../../ui/values.tsx'
import { EndpointStatus } from '../../webhooks/endpoint-status.tsx'
import { webhookTexts } from '../../webhooks/texts.ts'
import type { Endpoint } from '../../webhooks/types.ts'
import { Deliveries, DeliveryFilters } from '../components/deliveries.tsx'
import { EndpointActions } from '../components/endpoint-actions.tsx'
import type { DeliveriesSearch } from '../search.ts'
import { endpointQuery } from '../webhook-queries.ts'

const route = getRouteApi('/signed-in/account/webhooks/$endpointId')

/** One endpoint: its state, the possible actions, and its deliveries. */
export function EndpointPage() {
  const { endpointId } = route.useParams()
  const texts = useTexts(webhookTexts)
  const query = useQuery(endpointQuery(endpointId))
  const back = <BackLink to="/account/webhooks">{texts.title}</BackLink>
  // Once the endpoint is deleted, the page must not show it and its actions any more.
  const isGone = isApiError(query.error, 404)
  return (
    <PageLoaded
      query={isGone ? { ...query, data: undefined } : query}
      back={back}
      notShown={texts.notShown}
      notFound={texts.notFound}
    >
      {endpoint => <Whole endpoint={endpoint} />}
    </PageLoaded>
  )
}

function Whole({ endpoint }: { endpoint: Endpoint & { etag: string | null } }) {
  const texts = useTexts(webhookTexts)
  const { page, ...filters } = route.useSearch()
  const setSearch = useSetSearch<DeliveriesSearch>()
  const showsActions = mayChangeWebhooks(useSession())
  const { endpointId, url, description, disabledReason } = endpoint
  return (
    <>
      <PageHeader
        back={<BackLink to="/account/webhooks">{texts.title}</BackLink>}
        title={url}
        lead={description}
        actions={showsActions && <EndpointActions endpoint={endpoint} />}
      />
      <Stack gap="lg">
        {disabledReason === 'operator' && <Alert color="orange">{texts.byOperator}</Alert>}
        <Card>
          <Facts endpoint={endpoint} />
        </Card>
        <Stack component="section" gap="md" aria-label={texts.deliveries.title}>
          <Title order={2}>{texts.deliveries.title}</Title>
          <DeliveryFilters search={filters} onSearch={setSearch} />
          <Deliveries
            params={{ ...filters, endpointId }}
            page={page}
            onPage={next => setSearch({ page: next })}
            noneText={texts.deliveries.noneText}
          />
        </Stack>
      </Stack>
    </>
  )
}

function Facts({ endpoint }: { endpoint: Endpoint }) {
  const texts = useTexts(webhookTexts)
  const { fields } = texts
  const { lag, pending, position, order, eventTypes, lastSuccessAt, lastFailureAt, failingSince, secrets } = endpoint
  const when = (at: string | null) => (at ? <ExactTime at={at} /> : texts.never)
  return (
    <KeyFacts
      facts={[
        { label: fields.status, value: <EndpointStatus endpoint={endpoint} /> },
        { label: fields.lag, value: <Count value={lag} />, hint: fields.lagHint },
        { label: fields.pending, value: <Count value={pending} /> },
        { label: fields.position, value: <Count value={position} /> },
        { label: fields.success, value: when(lastSuccessAt) },
        { label: fields.failure, value: when(lastFailureAt) },
        ...(failingSince ? [{ label: fields.failing, value: <ExactTime at={failingSince} /> }] : []),
        { label: fields.order, value: fields.orders[order] },
        { label: fields.types, value: eventTypes?.join(', ') ?? fields.allTypes },
        { label: fields.created, value: <ExactTime at={endpoint.createdAt} /> },
        { label: fields.secrets, value: <Secrets secrets={secrets} /> },
      ]}
    />
  )
}

/** When each secret was created, and until when a replaced one still signs. */
function Secrets({ secrets }: Pick<Endpoint, 'secrets'>) {
  const { fields } = useTexts(webhookTexts)
  return (
    <Stack gap={2}>
      {secrets.map(({ createdAt, validUntil }) => (
        <span key={createdAt}>
          <ExactTime at={createdAt} />
          {validUntil && (
            <>
              {' '}
              {fields.validUntil} <ExactTime at={validUntil} />
            </>
          )}
        </span>
      ))}
    </Stack>
  )
}
