/** Whose people, credentials and policy a page shows. The platform's people choose a bank or a merchant; others have their own only. */
import { Group, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { PartnerSelect } from '../../operator/components/partner-select.tsx'
import type { Session } from '../../session/session.ts'
import { useSession } from '../../session/use-session.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import type { Named } from '../queries.ts'
import type { AccountSearch } from '../search.ts'
import { accountTexts } from '../texts.ts'

const kinds = ['platform', 'bank', 'merchant'] as const
type Kind = (typeof kinds)[number]

const kindOf = ({ bank, merchant }: AccountSearch): Kind => (bank ? 'bank' : merchant ? 'merchant' : 'platform')

export type ChosenAccount = {
  /** What requests name. */
  named: Named
  typeAccount: Session['typeAccount']
}

/** @param search of the page's address; it counts for the platform's people only */
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
  // A kind without its code is no account yet, so it is not in the address.
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
        <PartnerSelect kind={kind} value={search[kind] ?? ''} onChange={code => choose(kind, code)} />
      )}
    </Group>
  )
}
