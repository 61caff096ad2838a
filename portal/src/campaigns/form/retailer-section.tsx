import { Select } from '@mantine/core'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'

export type RetailerChoice = { retailerId: string; name: string; nameEn?: string | null }

/** Chooses the merchant when a bank creates the campaign. */
export function RetailerSection({ form, retailers }: FormPart & { retailers: readonly RetailerChoice[] }) {
  const { byBank: texts } = useTexts(formTexts)
  const names = useNames()
  return (
    <FormSection name="retailer" title={texts.retailer} isOpen={() => true} fields={['name']}>
      <Select
        label={texts.retailer}
        description={texts.retailerHint}
        required
        searchable
        openOnFocus={false}
        allowDeselect={false}
        data={retailers.map(retailer => ({ value: retailer.retailerId, label: names.of(retailer) }))}
        {...form.getInputProps('retailerId')}
        value={form.values.retailerId || null}
      />
    </FormSection>
  )
}
