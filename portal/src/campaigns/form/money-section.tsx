import { SimpleGrid } from '@mantine/core'
import { percentDecimals, restOfPercent } from '../../i18n/format.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { NumberField } from '../../ui/number-field.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'

/** The cashback, who pays for it, and its limits. */
export function MoneySection({ form, isOpen, isByBank, currency }: FormPart & { currency: string | null }) {
  const texts = useTexts(formTexts)
  const format = useFormat()
  const { merchantCompensationPercentage: share } = form.values
  const isShare = typeof share === 'number' && share <= 100
  const rest = isByBank ? texts.byBank.shareHint : texts.shareHint
  const part = { form, isOpen, isByBank }
  const inCurrency = (label: string) => (currency ? `${label}, ${currency}` : label)
  return (
    <FormSection
      name="money"
      title={texts.sections.money}
      isOpen={isOpen}
      fields={['percentage', 'merchantCompensationPercentage', 'minAmount', 'maxAmount', 'maxBudget']}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Figure
          {...part}
          name="percentage"
          label={texts.percentage}
          hint={texts.percentageHint}
          decimals={percentDecimals}
          isRequired
        />
        <Figure
          {...part}
          name="merchantCompensationPercentage"
          label={isByBank ? texts.byBank.share : texts.share}
          hint={
            isShare ? rest(format.percent(restOfPercent(share))) : isByBank ? texts.byBank.shareRule : texts.shareRule
          }
          decimals={percentDecimals}
          isRequired
        />
        <Figure {...part} name="minAmount" label={inCurrency(texts.minAmount)} isRequired />
        <Figure {...part} name="maxAmount" label={inCurrency(texts.maxAmount)} isRequired />
      </SimpleGrid>
      <Figure
        {...part}
        name="maxBudget"
        label={inCurrency(isByBank ? texts.byBank.maxBudget : texts.maxBudget)}
        hint={isByBank ? texts.byBank.maxBudgetHint : texts.maxBudgetHint}
      />
    </FormSection>
  )
}

type FigureName = 'percentage' | 'merchantCompensationPercentage' | 'minAmount' | 'maxAmount' | 'maxBudget'

function Figure(
  props: FormPart & { name: FigureName; label: string; hint?: string; isRequired?: boolean; decimals?: number },
) {
  const { form, isOpen, name, label, hint, isRequired = false, decimals } = props
  return (
    <NumberField
      {...(decimals && { decimals })}
      label={label}
      {...(hint && { description: hint })}
      required={isRequired}
      disabled={!isOpen(name)}
      data-path={name}
      error={form.errors[name]}
      value={form.values[name] ?? ''}
      onChange={value => {
        form.setFieldValue(name, value)
        form.clearFieldError(name)
      }}
    />
  )
}
