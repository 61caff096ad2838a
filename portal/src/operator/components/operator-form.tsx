import { Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { applyEntry, type MobileOperator, partnersQuery } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { CodeInput, changedOnly, EntryForm, type SaveOptions } from './entry-form.tsx'

const fields = ['code', 'nameUk', 'nameEn', 'country', 'logoUrl'] as const

/** Creates or changes a mobile operator, without its tariffs. */
export function OperatorForm({ operator }: { operator?: MobileOperator }) {
  const { mobile: texts } = useTexts(operatorTexts)
  const names = useNames()
  const { data } = useQuery(partnersQuery())
  const form = useForm({
    initialValues: {
      code: operator?.code ?? '',
      nameUk: operator?.nameUk ?? '',
      nameEn: operator?.nameEn ?? '',
      country: operator?.country ?? '',
      logoUrl: operator?.logoUrl ?? '',
    },
  })
  const { values } = form
  const before = operator && { ...operator, logoUrl: operator.logoUrl ?? '' }
  const save = ({ dryRun, mode = before ? 'apply' : 'create' }: SaveOptions) => {
    const entry = before ? { ...changedOnly(before, values), code: before.code } : values
    return applyEntry({ esim: { operators: [entry] } }, { mode, dryRun })
  }
  const codes = new Set(data?.countries.map(({ code }) => code))
  if (operator && operator.country !== 'global') codes.add(operator.country)
  const countries = [...codes].map(code => ({ value: code, label: names.country(code) }))
  return (
    <EntryForm form={form} fields={fields} name={values.nameUk} isNew={!operator} onSave={save}>
      {!operator && <CodeInput {...form.getInputProps('code')} />}
      <TextInput label={texts.nameUk} required data-autofocus={operator && true} {...form.getInputProps('nameUk')} />
      <TextInput label={texts.nameEn} {...form.getInputProps('nameEn')} />
      <Select
        label={texts.country}
        required
        searchable
        data={[{ value: 'global', label: texts.global }, ...countries]}
        {...form.getInputProps('country')}
      />
      <TextInput label={texts.logo} {...form.getInputProps('logoUrl')} />
    </EntryForm>
  )
}
