/** Forms of a bank and a merchant. Fields that are not shown stay unchanged. */
import { MultiSelect, NativeSelect, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { timeZones } from '../../i18n/time-zone.ts'
import { NumberField } from '../../ui/number-field.tsx'
import { applyEntry, type Bank, type Merchant, partnersQuery } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { CodeInput, changedOnly, EntryForm, type SaveOptions } from './entry-form.tsx'

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(Boolean)

/** @param onCreated called with the new partner, instead of closing the dialog */
type FormProps<Entry> = { entry?: Entry; onCreated?: (partner: { code: string; name: string }) => void }

/** Sends a whole new entry, or the changed fields of an existing one. */
function saveEntry(list: 'banks' | 'merchants', entry: { code: string } | undefined, values: { code: string }) {
  const change = entry ? { ...changedOnly(entry, values), code: entry.code } : values
  return ({ dryRun, mode = entry ? 'apply' : 'create' }: SaveOptions) =>
    applyEntry({ [list]: [change] }, { mode, dryRun })
}

const bankFields = [
  'code',
  'name',
  'logoUrl',
  'operators',
  'reservationShare',
  'timeZone',
  'commissionPercentage',
] as const

export function BankForm({ entry, onCreated }: FormProps<Bank['entry']>) {
  const { partners: texts } = useTexts(operatorTexts)
  const names = useNames()
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
      reservationShare: (entry?.esim.reservationShare ?? '') as number | string,
      timeZone: entry?.esim.statement.timeZone ?? 'UTC',
      commissionPercentage: (entry?.esim.statement.commissionPercentage ?? 0) as number | string,
      segments: entry?.segments ?? true,
    },
  })
  const { code, name, logoUrl, segments, deliveryMode, sellsAll, operators, reservationShare } = form.values
  const esim = {
    deliveryMode,
    operators: sellsAll ? 'all' : operators,
    reservationShare: reservationShare === '' ? null : reservationShare,
    statement: {
      timeZone: form.values.timeZone,
      commissionPercentage: form.values.commissionPercentage === '' ? 0 : form.values.commissionPercentage,
    },
  }
  const known = data?.mobileOperators.map(operator => ({ value: operator.code, label: names.of(operator) })) ?? []
  return (
    <EntryForm
      form={form}
      fields={bankFields}
      name={name}
      isNew={!entry}
      onSave={saveEntry('banks', entry, { code, name, logoUrl, esim, segments } as { code: string })}
      onSaved={onCreated && (() => onCreated({ code, name }))}
    >
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
      <NumberField label={texts.share} description={texts.shareHint} {...form.getInputProps('reservationShare')} />
      <Select
        label={texts.fields['esim.statement.timeZone']}
        data={[...new Set([form.values.timeZone, ...timeZones()])]}
        searchable
        allowDeselect={false}
        {...form.getInputProps('timeZone')}
      />
      <NumberField
        label={texts.fields['esim.statement.commissionPercentage']}
        decimals={4}
        {...form.getInputProps('commissionPercentage')}
      />
      <Switch label={texts.segments} {...form.getInputProps('segments', { type: 'checkbox' })} />
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

export function MerchantForm({ entry, onCreated }: FormProps<Merchant['entry']>) {
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
  const { values } = form
  const { code, name } = values
  const props = {
    ...values,
    domain: listOf(values.domain),
    merchantCategoryCode: listOf(values.merchantCategoryCode),
  }
  const banks = data?.banks.map(bank => ({ value: bank.entry.code, label: bank.entry.name })) ?? []
  return (
    <EntryForm
      form={form}
      fields={merchantFields}
      name={name}
      isNew={!entry}
      onSave={saveEntry('merchants', entry, props)}
      onSaved={onCreated && (() => onCreated({ code, name }))}
    >
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
