import { Checkbox, SimpleGrid, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { NumberField } from '../../ui/number-field.tsx'
import { applyEntry, type MobileOperator, type Tariff } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { CodeInput, changedOnly, EntryForm, type SaveOptions } from './entry-form.tsx'

type NumberName = 'price' | 'dataVolumeMb' | 'voiceMinutes' | 'smsCount' | 'validityDays'
/**
 * The form's values. The id is missing, because the platform assigns it. A number is a text while the field is empty or
 * its content is invalid.
 */
type Values = Omit<Tariff, 'id' | NumberName> & Record<NumberName, number | string>

const newTariff: Values = {
  code: '',
  name: '',
  description: '',
  price: '',
  currency: 'UAH',
  dataVolumeMb: 0,
  dataUnlimited: false,
  voiceMinutes: 0,
  voiceUnlimited: false,
  smsCount: 0,
  smsUnlimited: false,
  validityDays: 30,
  onSale: true,
}

const fields = [
  'code',
  'name',
  'description',
  'price',
  'currency',
  'validityDays',
  'dataVolumeMb',
  'voiceMinutes',
  'smsCount',
] as const

/** Replaces '', the value of an empty field, by null, which the API uses for "not set". An empty description stays ''. */
const toEntry = (values: Values): object =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === '' && name !== 'description' ? null : value]),
  )

/** Sends a whole new tariff, or the changed fields of an existing one. */
export function applyTariff(
  operator: Pick<MobileOperator, 'code'>,
  tariff: { code: string },
  options: { mode?: 'create' | 'apply'; dryRun?: boolean } = {},
) {
  return applyEntry({ esim: { operators: [{ code: operator.code, tariffs: [tariff] }] } }, options)
}

/** Creates or changes a tariff. */
export function TariffForm({ operator, tariff }: { operator: MobileOperator; tariff?: Tariff }) {
  const { mobile: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const form = useForm<Values>({ initialValues: tariff ?? newTariff })
  const { values } = form
  const megabytes = typeof values.dataVolumeMb === 'number' ? values.dataVolumeMb : 0
  const save = ({ dryRun, mode = 'create' }: SaveOptions) =>
    tariff
      ? applyTariff(operator, { ...changedOnly(tariff, toEntry(values)), code: tariff.code }, { dryRun })
      : applyTariff(operator, { ...toEntry(values), code: values.code }, { mode, dryRun })
  return (
    <EntryForm form={form} fields={fields} name={values.name} isNew={!tariff} onSave={save}>
      {!tariff && <CodeInput {...form.getInputProps('code')} />}
      <TextInput label={texts.name} required data-autofocus={tariff && true} {...form.getInputProps('name')} />
      <Textarea label={texts.description} autosize minRows={2} {...form.getInputProps('description')} />
      <SimpleGrid cols={{ base: 2, xs: 3 }}>
        <NumberField label={texts.price} required {...form.getInputProps('price')} />
        <TextInput label={texts.currency} required maxLength={3} {...form.getInputProps('currency')} />
        <NumberField label={texts.validityDays} required {...form.getInputProps('validityDays')} />
      </SimpleGrid>
      <SimpleGrid cols={2}>
        <NumberField
          label={texts.dataMb}
          description={megabytes > 0 && texts.dataAs(format.dataVolume(megabytes))}
          disabled={values.dataUnlimited}
          {...form.getInputProps('dataVolumeMb')}
        />
        <Checkbox mt={32} label={texts.unlimitedData} {...form.getInputProps('dataUnlimited', { type: 'checkbox' })} />
        <NumberField label={texts.voice} disabled={values.voiceUnlimited} {...form.getInputProps('voiceMinutes')} />
        <Checkbox
          mt={32}
          label={texts.unlimitedVoice}
          {...form.getInputProps('voiceUnlimited', { type: 'checkbox' })}
        />
        <NumberField label={texts.smsCount} disabled={values.smsUnlimited} {...form.getInputProps('smsCount')} />
        <Checkbox mt={32} label={texts.unlimitedSms} {...form.getInputProps('smsUnlimited', { type: 'checkbox' })} />
      </SimpleGrid>
      {tariff && (
        <Text size="sm" c="dimmed">
          {texts.soldPrice}
        </Text>
      )}
    </EntryForm>
  )
}
