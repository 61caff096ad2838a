import { Button, Menu } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconDotsVertical } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answer, api } from '../../api/client.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { useSession } from '../../session/use-session.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { showOnce } from '../../ui/once-shown.tsx'
import { ReplayForm } from '../../webhooks/replay-form.tsx'
import { webhookTexts } from '../../webhooks/texts.ts'
import type { Endpoint, ReplayParams } from '../../webhooks/types.ts'
import { useEventTypeNames, useWebhooksChanged } from '../webhook-queries.ts'
import { EnableForm, EndpointForm, TestForm } from './endpoint-forms.tsx'

/** The actions that a manager has on an endpoint. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint & { etag: string | null } }) {
  const texts = useTexts(webhookTexts)
  const { typeAccount } = useSession()
  const types = useEventTypeNames(typeAccount)
  const { endpointId, status, disabledReason } = endpoint
  const { replay, disable, rotate, remove } = useChanges(endpointId)
  const confirm = useConfirm()
  const isEnabled = status === 'enabled'
  const askToReplay = () =>
    modals.open({ title: texts.replay.title, children: <ReplayForm types={types} replay={replay} /> })
  const askToDisable = async () => {
    if (await confirm({ title: texts.disableTitle, text: texts.disableText, action: texts.disable })) disable.mutate()
  }
  const askToRotate = async () => {
    if (await confirm({ title: texts.rotateTitle, text: texts.rotateText, action: texts.rotate })) rotate.mutate()
  }
  const askToRemove = async () => {
    const question = { title: texts.removeTitle, text: texts.removeText, action: texts.remove, isDangerous: true }
    if (await confirm(question)) remove.mutate()
  }
  return (
    <>
      <Button
        onClick={() =>
          modals.open({
            title: texts.test.title,
            children: <TestForm typeAccount={typeAccount} endpointId={endpointId} />,
          })
        }
      >
        {texts.test.action}
      </Button>
      {isEnabled && (
        <Button variant="default" onClick={askToReplay}>
          {texts.replay.action}
        </Button>
      )}
      {!isEnabled && disabledReason !== 'operator' && (
        <Button
          variant="default"
          onClick={() => modals.open({ title: texts.enableTitle, children: <EnableForm endpointId={endpointId} /> })}
        >
          {texts.enable}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<IconDotsVertical size={16} aria-hidden />}>
            {texts.more}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            onClick={() =>
              modals.open({
                title: texts.editTitle,
                children: <EndpointForm typeAccount={typeAccount} endpoint={endpoint} />,
              })
            }
          >
            {texts.edit}
          </Menu.Item>
          <Menu.Item onClick={() => void askToRotate()}>{texts.rotate}</Menu.Item>
          {isEnabled && <Menu.Item onClick={() => void askToDisable()}>{texts.disable}</Menu.Item>}
          <Menu.Divider />
          <Menu.Item color="red" onClick={() => void askToRemove()}>
            {texts.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}

/** Each change reads the endpoint again, also after a failure: the platform may have made a change whose answer got lost. */
function useChanges(endpointId: string) {
  const texts = useTexts(webhookTexts)
  const fresh = useFreshFactor()
  const changed = useWebhooksChanged()
  const notify = useNotify()
  const navigate = useNavigate()
  const path = { params: { path: { endpointId } } }
  return {
    async replay(body: ReplayParams) {
      const replayed = await answer(api.POST('/partner/v1/webhook-endpoints/{endpointId}/replay', { ...path, body }))
      void changed()
      return replayed
    },
    disable: useMutation({
      mutationFn: () => api.POST('/partner/v1/webhook-endpoints/{endpointId}/disable', { ...path, body: {} }),
      onError: notify.failed,
      onSettled: changed,
    }),
    rotate: useMutation({
      // Returns nothing, because the answer contains the secret and a mutation's result stays in memory for a while.
      async mutationFn() {
        const operation = '/partner/v1/webhook-endpoints/{endpointId}/rotate-secret'
        const { secret } = await fresh(() => answer(api.POST(operation, { ...path, body: {} })))
        showOnce(texts.secretTitle, texts.secretText, [{ label: texts.secret, value: secret }])
      },
      onError: notify.failed,
      onSettled: () => void changed(),
    }),
    remove: useMutation({
      mutationFn: () => api.DELETE('/partner/v1/webhook-endpoints/{endpointId}', path),
      async onSuccess() {
        await navigate({ to: '/account/webhooks' })
        notify.done(texts.removed)
      },
      onError: notify.failed,
      onSettled: changed,
    }),
  }
}
