import { ActionIcon, Alert, Card, Menu, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconDotsVertical } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { sessionTexts } from '../../session/texts.ts'
import { useMayChange } from '../../session/use-session.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { showOnce } from '../../ui/once-shown.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Count, DateTime } from '../../ui/values.tsx'
import { EndpointStatus } from '../../webhooks/endpoint-status.tsx'
import { ReplayForm } from '../../webhooks/replay-form.tsx'
import { webhookTexts } from '../../webhooks/texts.ts'
import type { ReplayParams } from '../../webhooks/types.ts'
import { PartnerName } from '../components/partner-name.tsx'
import { type AccountEndpoint, allEndpointsQuery, eventsStatusQuery, useOperatorChanged } from '../queries.ts'
import { operatorWebhookTexts } from '../webhook-texts.ts'

/** The endpoints of all accounts, disabled ones first, and the state of event processing. */
export function WebhooksPage() {
  const texts = useTexts(operatorWebhookTexts)
  const query = useQuery(allEndpointsQuery)
  return (
    <>
      <PageHeader title={texts.title} lead={texts.lead} />
      <Stack gap="lg">
        <EventsStatus />
        <DataTable
          label={texts.title}
          columns={useColumns()}
          query={query}
          rows={query.data}
          rowKey={({ endpointId }) => endpointId}
          empty={<Empty title={texts.none} />}
        />
      </Stack>
    </>
  )
}

/** The maximum lag of event processing; a larger lag is shown as a failure. src/cli/events.ts uses the same number. */
const maxLagSeconds = 60

function EventsStatus() {
  const texts = useTexts(operatorWebhookTexts)
  const format = useFormat()
  const query = useQuery(eventsStatusQuery)
  return (
    <Loaded query={query}>
      {({ lastTickAt, waiting, lagSeconds, endpoints, pending }) => (
        <>
          {lagSeconds > maxLagSeconds && <Alert color="red">{texts.late}</Alert>}
          <Card component="section" aria-label={texts.status}>
            <KeyFacts
              facts={[
                {
                  label: texts.lag,
                  value: texts.seconds(format.number(Math.round(lagSeconds))),
                  hint: texts.waiting(waiting),
                },
                { label: texts.lastTick, value: <DateTime at={lastTickAt} /> },
                {
                  label: texts.endpoints,
                  value: <Count value={endpoints.enabled + endpoints.failing + endpoints.disabled} />,
                  hint: texts.counts(endpoints.failing, endpoints.disabled),
                },
                { label: texts.pending, value: <Count value={pending} /> },
              ]}
            />
          </Card>
        </>
      )}
    </Loaded>
  )
}

function useColumns(): Column<AccountEndpoint>[] {
  const texts = useTexts(webhookTexts)
  const { fields } = texts
  const mayChange = useMayChange()
  const columns: Column<AccountEndpoint>[] = [
    { key: 'account', title: fields.account, cell: ({ account }) => <Account account={account} /> },
    {
      key: 'url',
      title: fields.url,
      cell: ({ url, description }) => (
        <div style={{ overflowWrap: 'anywhere' }}>
          {url}
          {description && (
            <Text size="sm" c="dimmed">
              {description}
            </Text>
          )}
        </div>
      ),
    },
    { key: 'status', title: fields.status, cell: endpoint => <EndpointStatus endpoint={endpoint} /> },
    { key: 'lag', title: fields.lag, align: 'right', cell: ({ lag }) => <Count value={lag} /> },
    { key: 'pending', title: fields.pending, align: 'right', cell: ({ pending }) => <Count value={pending} /> },
    {
      key: 'success',
      title: fields.success,
      cell: ({ lastSuccessAt }) => (lastSuccessAt ? <DateTime at={lastSuccessAt} /> : texts.never),
    },
  ]
  const actions: Column<AccountEndpoint> = {
    key: 'actions',
    title: fields.actions,
    align: 'right',
    cell: endpoint => <Actions endpoint={endpoint} />,
  }
  return mayChange ? [...columns, actions] : columns
}

/** Shows the name and the kind of an account. The API sends it as `bank alpha`, `merchant grocer` or `platform`. */
function Account({ account }: Pick<AccountEndpoint, 'account'>) {
  const { accountType } = useTexts(sessionTexts)
  const [kind = '', ...code] = account.split(' ')
  if (kind !== 'bank' && kind !== 'merchant') return accountType.platform
  const note = `${kind === 'bank' ? accountType.bank : accountType.retailer} · ${code.join(' ')}`
  return <PartnerName kind={kind} code={code.join(' ')} note={note} />
}

function Actions({ endpoint: { endpointId, url, status } }: { endpoint: AccountEndpoint }) {
  const texts = useTexts(webhookTexts)
  const { more } = useTexts(operatorWebhookTexts)
  const { enable, disable, rotate, replay } = useChanges(endpointId)
  const confirm = useConfirm()
  const askToDisable = async () => {
    if (await confirm({ title: texts.disableTitle, text: texts.disableText, action: texts.disable })) disable.mutate()
  }
  const askToRotate = async () => {
    if (await confirm({ title: texts.rotateTitle, text: texts.rotateText, action: texts.rotate })) rotate.mutate()
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={more(url)}>
          <IconDotsVertical size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {status === 'disabled' && <Menu.Item onClick={() => enable.mutate()}>{texts.enable}</Menu.Item>}
        {status === 'enabled' && (
          <Menu.Item
            onClick={() =>
              modals.open({ title: texts.replay.title, children: <ReplayForm types={[]} replay={replay} /> })
            }
          >
            {texts.replay.action}
          </Menu.Item>
        )}
        <Menu.Item onClick={() => void askToRotate()}>{texts.rotate}</Menu.Item>
        {status === 'enabled' && (
          <Menu.Item color="red" onClick={() => void askToDisable()}>
            {texts.disable}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

function useChanges(endpointId: string) {
  const texts = useTexts(webhookTexts)
  const changed = useOperatorChanged()
  const notify = useNotify()
  const fresh = useFreshFactor()
  const path = { params: { path: { endpointId } }, body: {} }
  const outcome = { onSuccess: changed, onError: notify.failed }
  return {
    enable: useMutation({
      mutationFn: () => api.POST('/admin/webhook-endpoints/{endpointId}/enable', path),
      ...outcome,
    }),
    disable: useMutation({
      mutationFn: () => api.POST('/admin/webhook-endpoints/{endpointId}/disable', path),
      ...outcome,
    }),
    rotate: useMutation({
      // Returns nothing, because the answer contains the secret and a mutation's result stays in memory for a while.
      async mutationFn() {
        const operation = '/admin/webhook-endpoints/{endpointId}/rotate-secret'
        const { secret } = await fresh(() => answer(api.POST(operation, path)))
        showOnce(texts.secretTitle, texts.secretText, [{ label: texts.secret, value: secret }])
      },
      ...outcome,
    }),
    async replay(body: ReplayParams) {
      const replayed = await answer(api.POST('/admin/webhook-endpoints/{endpointId}/replay', { ...path, body }))
      void changed()
      return replayed
    },
  }
}
