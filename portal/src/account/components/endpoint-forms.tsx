/** Dialogs about an endpoint. Dialogs have no access to the session, so they get the kind of account as a property. */
import { Alert, NativeSelect, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeSeen } from '../../api/change-seen.ts'
import { answer, api, ifMatch } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import type { AccountType } from '../../session/session.ts'
import { FormFrame } from '../../ui/form-frame.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { NumberField } from '../../ui/number-field.tsx'
import { showOnce } from '../../ui/once-shown.tsx'
import { StaleForm } from '../../ui/stale-form.tsx'
import { useCreation } from '../../ui/use-creation.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { useOnce } from '../../ui/use-once.ts'
import { webhookTexts } from '../../webhooks/texts.ts'
import { TypeChoice } from '../../webhooks/type-choice.tsx'
import type { Endpoint } from '../../webhooks/types.ts'
import { endpointQuery, useEventTypeNames, useWebhooksChanged } from '../webhook-queries.ts'

/** Where an endpoint is created. */
const path = '/partner/v1/webhook-endpoints'
const orders = ['concurrent', 'serial'] as const
const fields = ['url', 'description', 'eventTypes', 'order', 'startAfter'] as const

type ReadEndpoint = Endpoint & { etag: string | null }

const valuesOf = (endpoint: Endpoint | undefined) => ({
  url: endpoint?.url ?? '',
  description: endpoint?.description ?? '',
  eventTypes: endpoint?.eventTypes ?? [],
  order: endpoint?.order ?? ('concurrent' as const),
  startAfter: 0 as number | string,
})

/** Creates or changes an endpoint. @param props.endpoint the endpoint, in the version that the person has seen */
export function EndpointForm(props: { typeAccount: AccountType; endpoint?: ReadEndpoint }) {
  const { typeAccount, endpoint } = props
  const texts = useTexts(webhookTexts)
  const types = useEventTypeNames(typeAccount)
  const [start, setStart] = useState<'now' | 'beginning'>('now')
  const form = useForm({ initialValues: valuesOf(endpoint) })
  const { place, clear, rest } = useFieldErrors(form, fields)
  const { mutate, isPending, newer, goOnWith, notice } = useSave(endpoint, { clear, place })
  const save = ({ url, description, eventTypes, order, startAfter }: typeof form.values) => {
    const note = description.trim()
    mutate({
      url: url.trim(),
      description: note === '' ? null : note,
      eventTypes: eventTypes.length > 0 ? eventTypes : null,
      order,
      ...(start === 'beginning' && { startAfter: startAfter as number }),
    })
  }
  return (
    <FormFrame
      action={endpoint ? texts.save : texts.add}
      rest={rest}
      notice={notice}
      isPending={isPending}
      onSubmit={form.onSubmit(save)}
    >
      {newer && (
        <StaleForm
          title={texts.stale}
          text={texts.staleText}
          action={texts.load}
          onLoad={() => {
            form.setValues(valuesOf(newer))
            goOnWith(newer)
          }}
        />
      )}
      <TextInput
        data-autofocus
        required
        label={texts.fields.url}
        description={texts.fields.urlHint}
        inputMode="url"
        maxLength={2048}
        {...form.getInputProps('url')}
      />
      <TextInput
        label={texts.fields.description}
        description={texts.fields.descriptionHint}
        maxLength={255}
        {...form.getInputProps('description')}
      />
      <TypeChoice types={types} {...form.getInputProps('eventTypes')} />
      <NativeSelect
        label={texts.fields.order}
        data={orders.map(value => ({ value, label: texts.fields.orders[value] }))}
        {...form.getInputProps('order')}
      />
      {!endpoint && (
        <NativeSelect
          label={texts.fields.start}
          data={(['now', 'beginning'] as const).map(value => ({ value, label: texts.fields.starts[value] }))}
          value={start}
          onChange={({ currentTarget }) => setStart(currentTarget.value === 'now' ? 'now' : 'beginning')}
        />
      )}
      {start === 'beginning' && (
        <NumberField label={texts.fields.startAfter} decimals={0} {...form.getInputProps('startAfter')} />
      )}
    </FormFrame>
  )
}

type Fields = Pick<Endpoint, 'url' | 'description' | 'eventTypes' | 'order'>

/** Whether the endpoint has these values already. The order and repetitions of event types do not matter. */
const isSavedIn = (endpoint: Endpoint, { url, description, eventTypes, order }: Fields): boolean =>
  endpoint.url === url &&
  endpoint.description === description &&
  endpoint.order === order &&
  namesIn(endpoint.eventTypes) === namesIn(eventTypes)

const namesIn = (types: readonly string[] | null): string => [...new Set(types)].toSorted().join()

/** `notice` says that a new endpoint may exist already. `newer` is the version that somebody else has saved first. After `goOnWith(newer)`, the next save changes this version. */
function useSave(endpoint: ReadEndpoint | undefined, errors: { clear(): void; place(error: unknown): void }) {
  const texts = useTexts(webhookTexts)
  const fresh = useFreshFactor()
  const changed = useWebhooksChanged()
  const notify = useNotify()
  const queryClient = useQueryClient()
  const [seen, setSeen] = useState(endpoint)
  const [newer, setNewer] = useState<ReadEndpoint | null>(null)
  const creation = useCreation({ path, texts: texts.lostAnswer })
  const save = useMutation({
    // Returns nothing, because the answer contains the secret and a mutation's result stays in memory for a while.
    async mutationFn({ startAfter, ...body }: Fields & { startAfter?: number }) {
      if (seen) {
        const { endpointId, etag } = seen
        const params = { path: { endpointId }, header: ifMatch(etag) }
        const { isSaved, stored } = await changeSeen({
          send: () => fresh(() => api.PATCH('/partner/v1/webhook-endpoints/{endpointId}', { params, body })),
          read: () => queryClient.fetchQuery({ ...endpointQuery(endpointId), staleTime: 0 }),
          isSavedIn: each => isSavedIn(each, body),
        })
        if (!isSaved) return setNewer(stored)
        modals.closeAll()
        return notify.done(texts.saved)
      }
      const withStart = { ...body, ...(startAfter !== undefined && { startAfter }) }
      const send = () => fresh(() => answer(api.POST(path, { body: withStart })))
      const { secret } = await creation.create(withStart, send)
      showOnce(texts.secretTitle, texts.secretText, [{ label: texts.secret, value: secret }])
    },
    onMutate() {
      errors.clear()
      setNewer(null)
    },
    onError: errors.place,
    onSettled: () => void changed(),
  })
  const goOnWith = (version: ReadEndpoint) => {
    setSeen(version)
    setNewer(null)
  }
  return { ...save, newer, goOnWith, notice: creation.notice }
}

/** Asks from where a disabled endpoint should continue. */
export function EnableForm({ endpointId }: { endpointId: string }) {
  const texts = useTexts(webhookTexts)
  const changed = useWebhooksChanged()
  const notify = useNotify()
  const [resume, setResume] = useState<'position' | 'now'>('position')
  const enable = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/partner/v1/webhook-endpoints/{endpointId}/enable', {
          params: { path: { endpointId } },
          body: { resume },
        }),
      ),
    onSuccess() {
      modals.closeAll()
      notify.done(texts.done)
    },
    onSettled: () => void changed(),
  })
  const isRemoved = isApiError(enable.error, 410)
  return (
    <FormFrame
      action={texts.enable}
      rest={isRemoved ? null : enable.error}
      isPending={enable.isPending}
      onSubmit={() => enable.mutate()}
    >
      {isRemoved && (
        <Alert color="orange" role="alert">
          {texts.overRetention}
        </Alert>
      )}
      <Radio.Group
        label={texts.resume}
        value={resume}
        onChange={value => setResume(value === 'now' ? 'now' : 'position')}
      >
        <Stack gap="xs" mt="xs">
          {(['position', 'now'] as const).map(value => (
            <Radio key={value} value={value} label={texts.resumes[value]} />
          ))}
        </Stack>
      </Radio.Group>
    </FormFrame>
  )
}

const ping = 'test.ping'

/** Sends a sample event of a type. */
export function TestForm({ typeAccount, endpointId }: { typeAccount: AccountType; endpointId: string }) {
  const { test: texts } = useTexts(webhookTexts)
  const types = useEventTypeNames(typeAccount)
  const changed = useWebhooksChanged()
  const notify = useNotify()
  const [type, setType] = useState(ping)
  const send = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/partner/v1/webhook-endpoints/{endpointId}/test', {
          params: { path: { endpointId } },
          body: { type },
        }),
      ),
    onSuccess() {
      void changed()
      modals.closeAll()
      notify.done(texts.sent)
    },
  })
  const sendOnce = useOnce(send)
  const known = [ping, ...types.filter(each => each !== ping)]
  return (
    <FormFrame action={texts.title} rest={send.error} isPending={send.isPending} onSubmit={sendOnce}>
      <Text>{texts.text}</Text>
      <NativeSelect
        data-autofocus
        label={texts.type}
        data={known}
        value={type}
        onChange={({ currentTarget }) => setType(currentTarget.value)}
      />
    </FormFrame>
  )
}
