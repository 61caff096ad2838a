/** What an entry of the directory says of a bank or a merchant; fields that are not shown stay as they are. */
import { Button, Group, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { Failure } from '../../ui/states.tsx'
import { applyEntries, type Bank, type Merchant, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(Boolean)

export function BankForm({ entry }: { entry?: Bank['entry'] }) {
  const { partners: texts } = useTexts(operatorTexts)
  const form = useForm({
    initialValues: {
      code: entry?.code ?? '',
      name: entry?.name ?? '',
      logoUrl: entry?.logoUrl ?? '',
      deliveryMode: entry?.esim.deliveryMode ?? 'local',
    },
  })
  const toEntry = ({ deliveryMode, ...values }: typeof form.values) => ({
    apiVersion: '1.0',
    ...entry,
    ...values,
    esim: { operators: 'all', ...entry?.esim, deliveryMode },
  })
  return (
    <PartnerForm name={form.values.name} onSubmit={() => applyEntries({ banks: [toEntry(form.values)] })}>
      <TextInput
        label={texts.code}
        description={texts.codeHint}
        required
        disabled={entry !== undefined}
        {...form.getInputProps('code')}
      />
      <TextInput label={texts.name} required {...form.getInputProps('name')} />
      <TextInput label={texts.logo} {...form.getInputProps('logoUrl')} />
      <NativeSelect
        label={texts.delivery}
        data={[
          { value: 'local', label: texts.deliveryModes.local },
          { value: 'qr_email', label: texts.deliveryModes.qr_email },
        ]}
        {...form.getInputProps('deliveryMode')}
      />
    </PartnerForm>
  )
}

export function MerchantForm({ entry }: { entry?: Merchant['entry'] }) {
  const { partners: texts } = useTexts(operatorTexts)
  const form = useForm({
    initialValues: {
      code: entry?.code ?? '',
      name: entry?.name ?? '',
      nameEn: entry?.nameEn ?? '',
      description: entry?.description ?? '',
      logoUrl: entry?.logoUrl ?? '',
      domain: entry?.domain.join(', ') ?? '',
      merchantCategoryCode: entry?.merchantCategoryCode.join(', ') ?? '',
      excludedBanks: entry?.excludedBanks.join(', ') ?? '',
    },
  })
  const toEntry = (values: typeof form.values) => ({
    ...entry,
    ...values,
    domain: listOf(values.domain),
    merchantCategoryCode: listOf(values.merchantCategoryCode),
    excludedBanks: listOf(values.excludedBanks),
  })
  return (
    <PartnerForm name={form.values.name} onSubmit={() => applyEntries({ merchants: [toEntry(form.values)] })}>
      <TextInput
        label={texts.code}
        description={texts.codeHint}
        required
        disabled={entry !== undefined}
        {...form.getInputProps('code')}
      />
      <TextInput label={texts.name} required {...form.getInputProps('name')} />
      <TextInput label={texts.nameEn} {...form.getInputProps('nameEn')} />
      <Textarea label={texts.description} autosize minRows={2} {...form.getInputProps('description')} />
      <TextInput label={texts.logo} {...form.getInputProps('logoUrl')} />
      <TextInput label={texts.domain} {...form.getInputProps('domain')} />
      <TextInput label={texts.categories} {...form.getInputProps('merchantCategoryCode')} />
      <TextInput label={texts.excluded} {...form.getInputProps('excludedBanks')} />
    </PartnerForm>
  )
}

/** The frame of a form in a dialog: saves, tells, closes; what the platform refuses is shown and nothing is lost. */
export function PartnerForm(props: { name: string; onSubmit: () => Promise<unknown>; children: ReactNode }) {
  const { name, onSubmit, children } = props
  const { partners: texts } = useTexts(operatorTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const [error, setError] = useState<unknown>(null)
  const save = useMutation({
    mutationFn: onSubmit,
    onError: setError,
    async onSuccess() {
      notify.done(texts.saved(name))
      modals.closeAll()
      await changed()
    },
  })
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        setError(null)
        save.mutate()
      }}
    >
      <Stack gap="md">
        {children}
        {error !== null && <Failure error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => modals.closeAll()}>
            {texts.cancel}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {texts.save}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
