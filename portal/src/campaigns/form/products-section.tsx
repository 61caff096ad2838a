import { Checkbox, Group, Radio, Stack, TagsInput, Text } from '@mantine/core'
import { memo, type ReactNode, useState } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'
import type { ListName } from './listed-values.ts'
import { LongList, shownOfLong } from './long-list.tsx'
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

/** From this length on, a list is not shown value by value. Thousands of values would slow down every key press. */
const longFrom = 100
const nothing: string[] = []

function Listed({ form, isOpen, name, label, hint }: FormPart & { name: ListName; label: string; hint: string }) {
  const { values, errors, setFieldValue, getInputNode } = form
  return (
    <ListedValues
      {...{ name, label, hint, setFieldValue, getInputNode }}
      values={values[name]}
      error={errors[name]}
      isDisabled={!isOpen(name)}
    />
  )
}

type ListedGiven = Pick<FormPart['form'], 'setFieldValue' | 'getInputNode'> & {
  name: ListName
  label: string
  hint: string
  values: string[]
  error: ReactNode
  isDisabled: boolean
}

/** `memo` renders this again only when its own list changes, not at each change of the form. */
const ListedValues = memo(function ListedValues(given: ListedGiven) {
  const { name, label, hint, values, error, isDisabled, setFieldValue, getInputNode } = given
  const texts = useTexts(formTexts)
  const [shownInFull, setShownInFull] = useState(longFrom - 1)
  const isLong = values.length > shownInFull
  // For a long list, the field shows no values; it only takes new ones.
  const shown = isLong ? nothing : values
  // New values come last. Quotation marks are removed before repetitions, because a value with a mark does not equal
  // the same value without it.
  const change = (changed: string[]) => {
    const old = isLong ? values : changed.slice(0, values.length)
    setFieldValue(name, [...new Set([...old, ...withoutQuotes(changed.slice(shown.length))])])
  }
  const clear = () => {
    setFieldValue(name, [])
    // The pressed button is gone now.
    getInputNode(name)?.focus()
  }
  return (
    <Stack gap="xs">
      <TagsInput
        label={label}
        description={hint}
        acceptValueOnBlur
        splitChars={separators}
        allowDuplicates
        disabled={isDisabled}
        data-path={name}
        error={error}
        value={shown}
        onChange={change}
      />
      {isLong && (
        <LongList
          status={texts.long[name](values.length)}
          count={values.length}
          isDisabled={isDisabled}
          onClear={clear}
          onShowAll={() => setShownInFull(values.length)}
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {values.slice(0, shownOfLong).join(', ')}
          </Text>
        </LongList>
      )}
    </Stack>
  )
})

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
