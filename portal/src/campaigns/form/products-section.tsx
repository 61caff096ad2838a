import { Checkbox, Group, Radio, Stack, TagsInput } from '@mantine/core'
import { useTexts } from '../../i18n/preferences.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'
import { separators, withoutQuotes } from './pasted-list.ts'

/** The products and purchases that the campaign is for. */
export function ProductsSection(part: FormPart) {
  const { form, isOpen } = part
  const texts = useTexts(formTexts)
  const { allProducts } = form.values
  return (
    <FormSection
      name="products"
      title={texts.sections.products}
      isOpen={isOpen}
      fields={['allProducts', 'sku', 'categoryId', 'purchaseOnline', 'purchaseOffline', 'merchantCategoryCode']}
    >
      <Radio.Group
        label={texts.assortment}
        error={form.errors.allProducts}
        value={allProducts ? 'all' : 'some'}
        onChange={value => form.setFieldValue('allProducts', value === 'all')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="all" label={texts.allProducts} disabled={!isOpen('allProducts')} data-path="allProducts" />
          <Radio value="some" label={texts.someProducts} disabled={!isOpen('allProducts')} />
        </Stack>
      </Radio.Group>
      {!allProducts && (
        <>
          <Listed {...part} name="sku" label={texts.sku} hint={texts.listHint} />
          <Listed {...part} name="categoryId" label={texts.categoryId} hint={texts.listHint} />
        </>
      )}
      <Purchases {...part} />
      <Listed {...part} name="merchantCategoryCode" label={texts.codes} hint={texts.codesHint} />
    </FormSection>
  )
}

type ListName = 'sku' | 'categoryId' | 'merchantCategoryCode'

function Listed({ form, isOpen, name, label, hint }: FormPart & { name: ListName; label: string; hint: string }) {
  const input = form.getInputProps(name)
  const { length } = form.values[name]
  // New values come last. Repetitions are removed after the quotation marks, because with a mark they look different.
  const change = (values: string[]) =>
    input.onChange([...new Set([...values.slice(0, length), ...withoutQuotes(values.slice(length))])])
  return (
    <TagsInput
      label={label}
      description={hint}
      acceptValueOnBlur
      splitChars={separators}
      allowDuplicates
      disabled={!isOpen(name)}
      {...input}
      onChange={change}
    />
  )
}

function Purchases({ form, isOpen }: FormPart) {
  const texts = useTexts(formTexts)
  const chosen = (['purchaseOnline', 'purchaseOffline'] as const).filter(name => form.values[name])
  return (
    <Checkbox.Group
      label={texts.purchases}
      error={form.errors.purchaseOnline ?? form.errors.purchaseOffline}
      value={chosen}
      onChange={names => {
        form.setFieldValue('purchaseOnline', names.includes('purchaseOnline'))
        form.setFieldValue('purchaseOffline', names.includes('purchaseOffline'))
      }}
    >
      <Group gap="lg" mt="xs">
        <Checkbox value="purchaseOnline" label={texts.online} disabled={!isOpen('purchaseOnline')} />
        <Checkbox value="purchaseOffline" label={texts.offline} disabled={!isOpen('purchaseOffline')} />
      </Group>
    </Checkbox.Group>
  )
}
