/**
 * The account whose people, credentials and policy a page shows. The platform's people choose a bank or a merchant;
 * others see only their own account.
 */
import { Group, NativeSelect, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import type { Named } from '../../people/named.ts'
import type { Session } from '../../session/session.ts'
import { useSession } from '../../session/use-session.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { Empty } from '../../ui/states.tsx'
import { merchantEntryQuery, partnersToChooseQuery } from '../queries.ts'
import { type AccountSearch, partnerKinds } from '../search.ts'
import { accountTexts } from '../texts.ts'

const kinds = ['platform', ...partnerKinds] as const
type Kind = (typeof kinds)[number]
type PartnerKind = (typeof partnerKinds)[number]

export type ChosenAccount = {
  /** The query parameter that names the account in requests; none for the person's own account. */
  named: Named
  typeAccount: Session['typeAccount']
}

/**
 * @param search the account in the page's address; it is used for the platform's people only
 * @returns null while only the kind of account is chosen. Then the page must not show or change any account
 */
export function useChosenAccount(search: AccountSearch): ChosenAccount | null {
  const { typeAccount } = useSession()
  if (typeAccount !== 'platform') return { named: {}, typeAccount }
  const { bank, merchant, kind } = search
  if (bank) return { named: { bank }, typeAccount: 'bank' }
  if (merchant) return { named: { merchant }, typeAccount: 'retailer' }
  return kind ? null : { named: {}, typeAccount: 'platform' }
}

/** @returns the name of the account in the page's address. Until a partner's name is loaded, it is the code */
export function useAccountName({ bank, merchant }: AccountSearch): string {
  const session = useSession()
  const names = useNames()
  const isPlatform = session.typeAccount === 'platform'
  const code = isPlatform ? (bank ?? merchant) : undefined
  const entry = usePartnerEntry(bank ? 'bank' : 'merchant', code)
  return code === undefined ? names.of(session) : entry ? names.of(entry) : code
}

/** @returns the names of the partner; undefined until they are loaded, and without a code */
function usePartnerEntry(kind: PartnerKind, code: string | undefined) {
  const isKnown = code !== undefined
  const { data: banks } = useQuery({ ...partnersToChooseQuery('bank', ''), enabled: isKnown && kind === 'bank' })
  const { data: merchant } = useQuery({ ...merchantEntryQuery(code ?? ''), enabled: isKnown && kind === 'merchant' })
  if (!isKnown) return undefined
  return kind === 'bank' ? banks?.find(bank => bank.code === code) : merchant
}

/** What a page shows instead of an account while only the kind of account is chosen. */
export function ChooseFirst() {
  return <Empty title={useTexts(accountTexts).choice.chooseFirst} />
}

export function AccountChoice({ search }: { search: AccountSearch }) {
  const texts = useTexts(accountTexts).choice
  const setSearch = useSetSearch<AccountSearch>()
  const { bank, merchant } = search
  const kind: Kind = bank ? 'bank' : merchant ? 'merchant' : (search.kind ?? 'platform')
  const choose = (chosen: Kind, code?: string) => {
    const partner = chosen === 'platform' ? {} : code ? { [chosen]: code } : { kind: chosen }
    setSearch({ bank: undefined, merchant: undefined, kind: undefined, ...partner })
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

type PartnerChoiceProps = { kind: PartnerKind; code: string | null; onChoose: (code: string) => void }

function PartnerChoice({ kind, code, onChoose }: PartnerChoiceProps) {
  const texts = useTexts(accountTexts).choice
  const [typed, setTyped] = useState('')
  const [words] = useDebouncedValue(typed.trim(), 200)
  const { data: found = [] } = useQuery(partnersToChooseQuery(kind, words))
  const chosen = usePartnerEntry(kind, code ?? undefined)
  const names = useNames()
  // The list is bounded. The chosen merchant must be visible even if it is not among the first ones.
  const isMissing = chosen !== undefined && words === '' && !found.some(entry => entry.code === chosen.code)
  const partners = isMissing ? [chosen, ...found] : found
  return (
    <Select
      label={texts.partners[kind]}
      placeholder={texts.choose}
      searchable
      data={partners.map(entry => ({ value: entry.code, label: names.of(entry) }))}
      // The platform also finds merchants by names other than the shown one.
      {...(kind === 'merchant' && { filter: ({ options }) => options })}
      value={code}
      onChange={value => onChoose(value ?? '')}
      searchValue={typed}
      onSearchChange={setTyped}
    />
  )
}
