import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { partnersQuery } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/**
 * Chooses a bank or a merchant. There are many merchants, so the platform searches them by the typed words. The value
 * is the partner's code.
 */
export function PartnerSelect(props: {
  kind: 'bank' | 'merchant'
  value: string
  onChange: (code: string) => void
  error?: ReactNode
}) {
  const { kind, value, onChange, error } = props
  const { access: texts } = useTexts(operatorTexts)
  const [typed, setTyped] = useState('')
  const [words] = useDebouncedValue(typed.trim(), 200)
  const { data } = useQuery(partnersQuery(kind === 'merchant' && words !== '' ? { search: words } : {}))
  const names = useNames()
  const partners = (kind === 'bank' ? data?.banks : data?.merchants.data) ?? []
  return (
    <Select
      label={texts.partners[kind]}
      placeholder={texts.choose}
      required
      searchable
      data={partners.map(({ entry }) => ({ value: entry.code, label: names.of(entry) }))}
      // The platform also finds merchants by names other than the shown one.
      {...(kind === 'merchant' && { filter: ({ options }) => options })}
      value={value || null}
      onChange={code => onChange(code ?? '')}
      searchValue={typed}
      onSearchChange={setTyped}
      error={error}
      data-path="partner"
    />
  )
}

/** Returns a function that lists the names of the banks with these codes; until they are loaded, it lists the codes. */
export function useBankNames(): (codes: readonly string[]) => string {
  const format = useFormat()
  const { data } = useQuery(partnersQuery())
  const nameOf = (code: string) => data?.banks.find(({ entry }) => entry.code === code)?.entry.name ?? code
  return codes => format.list(codes.map(nameOf))
}
