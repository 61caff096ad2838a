/** What an entry of the directory says of a bank or a merchant; fields that are not shown stay as they are. */
import { MultiSelect, NativeSelect, Switch, Textarea, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useFaults } from '../../ui/use-faults.ts'
import { applyEntry, type Bank, type Merchant, partnersQuery, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { FormFrame } from './form-frame.tsx'

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(Boolean)

const bankFields = ['code', 'name', 'logoUrl'] as const

export function BankForm({ entry }: { entry?: Bank['entry'] }) {
  const { partners: texts } = useTexts(operatorTexts)
  const { data } = useQuery(partnersQuery())
  const sold = entry?.esim.operators ?? 'all'
  const form = useForm({
    initialValues: {
      code: entry?.code ?? '',
      name: entry?.name ?? '',
      logoUrl: entry?.logoUrl ?? '',
      deliveryMode: entry?.esim.deliveryMode ?? 'local',
      sellsAll: sold === 'all',
      operators: sold === 'all' ? [] : sold,
    },
  })
  const toEntry = ({ deliveryMode, sellsAll, operators, ...values }: typeof form.values) => ({
    apiVersion: '1.0',
    ...entry,
    ...values,
    esim: { operators: sellsAll ? 'all' : operators, deliveryMode },
  })
  const known = data?.mobileOperators.map(({ code, nameUk }) => ({ value: code, label: nameUk })) ?? []
  const save = () => applyEntry({ banks: [toEntry(form.values)] }, { mode: entry ? 'apply' : 'create' })
  return (
    <EntryForm form={form} fields={bankFields} name={form.values.name} onSave={save}>
      {!entry && <CodeInput {...form.getInputProps('code')} />}
      <TextInput label={texts.name} required data-autofocus={entry && true} {...form.getInputProps('name')} />
      <TextInput label={texts.logo} {...form.getInputProps('logoUrl')} />
      <NativeSelect
        label={texts.delivery}
        data={(['local', 'qr_email'] as const).map(value => ({ value, label: texts.deliveryModes[value] }))}
        {...form.getInputProps('deliveryMode')}
      />
      <Switch
        label={texts.sellsAll}
        description={texts.sellsAllHint}
        {...form.getInputProps('sellsAll', { type: 'checkbox' })}
      />
      {!form.values.sellsAll && (
        <MultiSelect
          label={texts.operators}
          description={texts.operatorsHint}
          data={known}
          searchable
          {...form.getInputProps('operators')}
        />
      )}
    </EntryForm>
  )
}

const merchantFields = [
  'code',
  'name',
  'nameEn',
  'description',
  'logoUrl',
  'domain',
  'merchantCategoryCode',
  'excludedBanks',
] as const

export function MerchantForm({ entry }: { entry?: Merchant['entry'] }) {
  const { partners: texts } = useTexts(operatorTexts)
  const { data } = useQuery(partnersQuery())
  const form = useForm({
    initialValues: {
      code: entry?.code ?? '',
      name: entry?.name ?? '',
      nameEn: entry?.nameEn ?? '',
      description: entry?.description ?? '',
      logoUrl: entry?.logoUrl ?? '',
      domain: entry?.domain.join(', ') ?? '',
      merchantCategoryCode: entry?.merchantCategoryCode.join(', ') ?? '',
      excludedBanks: entry?.excludedBanks ?? [],
    },
  })
  const toEntry = (values: typeof form.values) => ({
    ...entry,
    ...values,
    domain: listOf(values.domain),
    merchantCategoryCode: listOf(values.merchantCategoryCode),
  })
  const save = () => applyEntry({ merchants: [toEntry(form.values)] }, { mode: entry ? 'apply' : 'create' })
  const banks = data?.banks.map(bank => ({ value: bank.entry.code, label: bank.entry.name })) ?? []
  return (
    <EntryForm form={form} fields={merchantFields} name={form.values.name} onSave={save}>
      {!entry && <CodeInput {...form.getInputProps('code')} />}
      <TextInput label={texts.name} required data-autofocus={entry && true} {...form.getInputProps('name')} />
      <TextInput label={texts.nameEn} {...form.getInputProps('nameEn')} />
      <Textarea label={texts.description} autosize minRows={2} {...form.getInputProps('description')} />
      <TextInput label={texts.logo} {...form.getInputProps('logoUrl')} />
      <TextInput label={texts.domain} {...form.getInputProps('domain')} />
      <TextInput label={texts.categories} {...form.getInputProps('merchantCategoryCode')} />
      <MultiSelect label={texts.excluded} data={banks} searchable {...form.getInputProps('excludedBanks')} />
    </EntryForm>
  )
}

/** Only in a new entry: a code stays for good. */
export function CodeInput(input: object) {
  const { partners: texts } = useTexts(operatorTexts)
  return <TextInput label={texts.code} description={texts.codeHint} required data-autofocus {...input} />
}

/** An entry's form in a dialog: saves, tells, closes; what the platform refuses is at its field, and nothing is lost. */
export function EntryForm<Values>(props: {
  form: UseFormReturnType<Values>
  /** As the directory names them, in the order of the form. */
  fields: readonly string[]
  name: string
  onSave: () => Promise<unknown>
  children: ReactNode
}) {
  const { form, fields, name, onSave, children } = props
  const { partners: texts } = useTexts(operatorTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const { place, rest } = useFaults(form, fields)
  const save = useMutation({
    mutationFn: onSave,
    onError: place,
    async onSuccess() {
      notify.done(texts.saved(name))
      modals.closeAll()
      await changed()
    },
  })
  return (
    <FormFrame onSubmit={() => save.mutate()} rest={rest} isPending={save.isPending}>
      {children}
    </FormFrame>
  )
}
