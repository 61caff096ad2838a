import { NativeSelect } from '@mantine/core'
import { useTexts } from '../../i18n/preferences.tsx'
import { esimTexts } from '../esim-texts.ts'
import { useTariffNames } from '../tariff-names.ts'

/** Chooses one of the bank's tariffs, or all. A chosen tariff that is no longer sold stays visible. */
export function TariffSelect(props: { value: string | undefined; onChange: (tariff: string | undefined) => void }) {
  const { value = '', onChange } = props
  const texts = useTexts(esimTexts)
  const names = useTariffNames()
  const codes = [...new Set([...names.keys(), ...(value ? [value] : [])])]
  return (
    <NativeSelect
      aria-label={texts.tariff}
      data={[
        { value: '', label: texts.anyTariff },
        ...codes.map(code => ({ value: code, label: names.get(code) ?? code })),
      ]}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
    />
  )
}
