import { Textarea, TextInput } from '@mantine/core'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { useCountedText } from '../../ui/counted-text.tsx'
import { SearchSelect } from '../../ui/search-select.tsx'
import { type FormPart, maxLength } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'

type Country = { code: string; name: string; currency: { code: string; symbol: string } }

/** The campaign's name, its texts for customers, and its country. */
export function BasicsSection({ form, isOpen, countries }: FormPart & { countries: readonly Country[] }) {
  const texts = useTexts(formTexts)
  const names = useNames()
  const countedText = useCountedText()
  const counted = (field: keyof typeof maxLength, hint?: string) => {
    const input = form.getInputProps(field)
    return { ...input, ...countedText(form.values[field], maxLength[field], { hint, error: input.error }) }
  }
  return (
    <FormSection
      name="basics"
      title={texts.sections.basics}
      isOpen={isOpen}
      fields={['name', 'description', 'participationTerms', 'countryCode']}
    >
      {isOpen('name') && <TextInput label={texts.name} required {...counted('name')} />}
      {isOpen('description') && (
        <Textarea label={texts.description} autosize minRows={2} maxRows={8} {...counted('description')} />
      )}
      {isOpen('participationTerms') && (
        <Textarea
          label={texts.participationTerms}
          autosize
          minRows={2}
          maxRows={8}
          {...counted('participationTerms', texts.participationTermsHint)}
        />
      )}
      {isOpen('countryCode') && (
        <SearchSelect
          label={texts.country}
          description={texts.countryHint}
          required
          choices={countries.map(({ code, name, currency }) => ({
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
