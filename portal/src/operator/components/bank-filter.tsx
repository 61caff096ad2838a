import { type MantineStyleProps, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTexts } from '../../i18n/preferences.tsx'
import { partnersQuery } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/** Limits a list to one bank. */
export function BankFilter(
  props: { code: string | undefined; onChoose: (code: string | undefined) => void } & MantineStyleProps,
) {
  const { code, onChoose, ...style } = props
  const { orders: texts } = useTexts(operatorTexts)
  const { data: partners } = useQuery(partnersQuery())
  const banks = partners?.banks.map(({ entry }) => ({ value: entry.code, label: entry.name })) ?? []
  return (
    <NativeSelect
      aria-label={texts.bank}
      data={[{ value: '', label: texts.allBanks }, ...banks]}
      value={code ?? ''}
      onChange={({ currentTarget }) => onChoose(currentTarget.value || undefined)}
      {...style}
    />
  )
}
