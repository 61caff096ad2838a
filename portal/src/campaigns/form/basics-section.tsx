import { Select, Textarea, TextInput } from '@mantine/core'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { type FormPart, lengthOf, maxLength } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'

type Country = { code: string; name: string; currency: { code: string; symbol: string } }

/** The campaign's name, its texts for customers, and its country. */
export function BasicsSection({ form, isOpen, countries }: FormPart & { countries: readonly Country[] }) {
  const texts = useTexts(formTexts)
  const names = useNames()
  const left = (field: keyof typeof maxLength) => {
    const rest = maxLength[field] - lengthOf(form.values[field].trim())
    return rest < 0 ? texts.over(-rest) : texts.left(rest)
  }
  return (
    <FormSection
      name="basics"
      title={texts.sections.basics}
      isOpen={isOpen}
      fields={['name', 'description', 'participationTerms', 'countryCode']}
    >
      {isOpen('name') && (
        <TextInput label={texts.name} description={left('name')} required {...form.getInputProps('name')} />
      )}
      {isOpen('description') && (
        <Textarea
          label={texts.description}
          description={left('description')}
          autosize
          minRows={2}
          maxRows={8}
          {...form.getInputProps('description')}
        />
      )}
      {isOpen('participationTerms') && (
        <Textarea
          label={texts.participationTerms}
          description={`${texts.participationTermsHint} ${left('participationTerms')}.`}
          autosize
          minRows={2}
          maxRows={8}
          {...form.getInputProps('participationTerms')}
        />
      )}
      {isOpen('countryCode') && (
        <Select
          label={texts.country}
          description={texts.countryHint}
          required
          searchable
          openOnFocus={false}
          allowDeselect={false}
          data={countries.map(({ code, name, currency }) => ({
            value: code,
            label: `${names.country(code, name)}, ${currency.code}`,
          }))}
          {...form.getInputProps('countryCode')}
          value={form.values.countryCode || null}
        />
      )}
    </FormSection>
  )
}
