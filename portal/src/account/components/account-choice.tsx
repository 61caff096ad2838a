/**
 * The account whose people, credentials and policy a page shows. The platform's people choose a bank or a merchant;
 * others see only their own account.
 */
import { Group, NativeSelect, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import type { Session } from '../../session/session.ts'
import { useSession } from '../../session/use-session.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { type Named, partnersToChooseQuery } from '../queries.ts'
import type { AccountSearch } from '../search.ts'
import { accountTexts } from '../texts.ts'

const kinds = ['platform', 'bank', 'merchant'] as const
type Kind = (typeof kinds)[number]

const kindOf = ({ bank, merchant }: AccountSearch): Kind => (bank ? 'bank' : merchant ? 'merchant' : 'platform')

export type ChosenAccount = {
  /** The query parameter that names the account in requests; none for the person's own account. */
  named: Named
  typeAccount: Session['typeAccount']
}

/** @param search the account in the page's address; it is used for the platform's people only */
export function useChosenAccount(search: AccountSearch): ChosenAccount {
  const { typeAccount } = useSession()
  if (typeAccount !== 'platform') return { named: {}, typeAccount }
  const { bank, merchant } = search
  if (bank) return { named: { bank }, typeAccount: 'bank' }
  return merchant ? { named: { merchant }, typeAccount: 'retailer' } : { named: {}, typeAccount: 'platform' }
}

export function AccountChoice({ search }: { search: AccountSearch }) {
  const texts = useTexts(accountTexts).choice
  const setSearch = useSetSearch<AccountSearch>()
  // The kind (bank or merchant) without a code does not identify an account, so the address changes only after a code
  // is chosen.
  const [kind, setKind] = useState<Kind>(kindOf(search))
  const choose = (chosen: Kind, code?: string) => {
    setKind(chosen)
    setSearch({ bank: undefined, merchant: undefined, ...(chosen !== 'platform' && { [chosen]: code || undefined }) })
  }
  if (useSession().typeAccount !== 'platform') return null
  return (
    <Group mb="md" align="end">
      <NativeSelect
        label={texts.account}
        data={kinds.map(value => ({ value, label: texts.kinds[value] }))}
        value={kind}
        onChange={({ currentTarget }) => choose(currentTarget.value as Kind)}
      />
      {kind !== 'platform' && (
        <PartnerChoice key={kind} kind={kind} code={search[kind] ?? null} onChoose={code => choose(kind, code)} />
      )}
    </Group>
  )
}

type PartnerChoiceProps = { kind: 'bank' | 'merchant'; code: string | null; onChoose: (code: string) => void }

function PartnerChoice({ kind, code, onChoose }: PartnerChoiceProps) {
  const texts = useTexts(accountTexts).choice
  const [typed, setTyped] = useState('')
  const [words] = useDebouncedValue(typed.trim(), 200)
  const { data: partners = [] } = useQuery(partnersToChooseQuery(kind, words))
  const names = useNames()
  return (
    <Select
      label={texts.partners[kind]}
      placeholder={texts.choose}
      searchable
      data={partners.map(entry => ({ value: entry.code, label: names.of(entry) }))}
      // The platform also finds merchants by names other than the shown one.
      {...(kind === 'merchant' && { filter: ({ options }) => options })}
      value={code}
      onChange={chosen => onChoose(chosen ?? '')}
      searchValue={typed}
      onSearchChange={setTyped}
    />
  )
}
