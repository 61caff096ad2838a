import { Button, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery } from '@tanstack/react-query'
import { useTexts } from '../../i18n/preferences.tsx'
import { mayChangeWebhooks } from '../../session/rights.ts'
import { useSession } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, DateTime } from '../../ui/values.tsx'
import { EndpointStatus } from '../../webhooks/endpoint-status.tsx'
import { webhookTexts } from '../../webhooks/texts.ts'
import type { Endpoint } from '../../webhooks/types.ts'
import { EndpointForm } from '../components/endpoint-forms.tsx'
import { endpointsQuery } from '../webhook-queries.ts'

/** The endpoints that receive the account's events. */
export function WebhooksPage() {
  const texts = useTexts(webhookTexts)
  const session = useSession()
  const query = useQuery(endpointsQuery)
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={
          mayChangeWebhooks(session) && (
            <Button
              onClick={() =>
                modals.open({ title: texts.add, children: <EndpointForm typeAccount={session.typeAccount} /> })
              }
            >
              {texts.add}
            </Button>
          )
        }
      />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={query.data}
        rowKey={({ endpointId }) => endpointId}
        empty={<Empty title={texts.none} text={mayChangeWebhooks(session) ? texts.noneText : texts.noneToRead} />}
      />
    </>
  )
}

function useColumns(): Column<Endpoint>[] {
  const texts = useTexts(webhookTexts)
  const { fields } = texts
  return [
    {
      key: 'url',
      title: fields.url,
      cell: ({ endpointId, url, description }) => (
        <div style={{ overflowWrap: 'anywhere' }}>
          <LinkAnchor to="/account/webhooks/$endpointId" params={{ endpointId }} fw={600} c="inherit">
            {url}
          </LinkAnchor>
          {description && (
            <Text size="sm" c="dimmed">
              {description}
            </Text>
          )}
        </div>
      ),
    },
    { key: 'status', title: fields.status, cell: endpoint => <EndpointStatus endpoint={endpoint} /> },
    { key: 'types', title: fields.types, cell: endpoint => <Types {...endpoint} />, isMinor: true },
    { key: 'lag', title: fields.lag, align: 'right', cell: ({ lag }) => <Count value={lag} /> },
    { key: 'pending', title: fields.pending, align: 'right', cell: ({ pending }) => <Count value={pending} /> },
    {
      key: 'success',
      title: fields.success,
      cell: ({ lastSuccessAt }) => (lastSuccessAt ? <DateTime at={lastSuccessAt} /> : texts.never),
      isMinor: true,
    },
  ]
}

function Types({ eventTypes }: Pick<Endpoint, 'eventTypes'>) {
  const { fields } = useTexts(webhookTexts)
  return <>{eventTypes?.join(', ') ?? fields.allTypes}</>
}
