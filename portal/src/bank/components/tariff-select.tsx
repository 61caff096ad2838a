import { NativeSelect } from '@mantine/core'
import { useTexts } from '../../i18n/preferences.tsx'
import { esimTexts } from '../esim-texts.ts'
import { isChosen } from '../sales-figures.ts'
import type { TariffSearch } from '../search.ts'
import { useTariffName, useTariffs } from '../tariff-names.ts'

/** Chooses one of the bank's tariffs, or all. A chosen tariff that is no longer sold stays visible. */
export function TariffSelect(props: { value: TariffSearch; onChange: (tariff: TariffSearch) => void }) {
  const { value, onChange } = props
  const texts = useTexts(esimTexts)
  const nameOf = useTariffName()
  const tariffs = useTariffs()
  const { operator = '', tariff } = value
  const isKnown = tariff === undefined || tariffs.some(each => isChosen(each, value))
  const options = isKnown ? tariffs : [...tariffs, { operatorCode: operator, tariffCode: tariff }]
  return (
    <NativeSelect
      aria-label={texts.tariff}
      data={[
        { value: '', label: texts.anyTariff },
        ...options.map((each, index) => ({ value: String(index), label: nameOf(each) })),
      ]}
      value={tariff === undefined ? '' : String(options.findIndex(each => isChosen(each, value)))}
      onChange={({ currentTarget }) => {
        const chosen = options[Number.parseInt(currentTarget.value, 10)]
        onChange({ operator: chosen?.operatorCode, tariff: chosen?.tariffCode })
      }}
    />
  )
}
