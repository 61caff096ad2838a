/** Formats the expected and the found value. The platform sends both as texts whose format depends on the kind. */
import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { DateTime, Money, none, Period } from '../../ui/values.tsx'
import type { Difference } from '../types.ts'
import { reconciliationTexts } from './texts.ts'

type Props = { item: Difference; side: 'expected' | 'found'; currency: string }

export function DifferenceValue({ item, side, currency }: Props): ReactNode {
  const texts = useTexts(reconciliationTexts)
  const value = item[side]
  if (value === null) return none
  switch (item.kind) {
    case 'outside-period': {
      if (side === 'found') return <DateTime at={value} />
      const [from = '', to = ''] = value.split('/')
      return <Period dateFrom={from} dateTo={to} />
    }
    case 'amount-out-of-range': {
      const [least = '', most] = value.split('..')
      return most === undefined ? (
        <Money amount={Number(value)} currency={currency} />
      ) : (
        <>
          <Money amount={Number(least)} currency={currency} /> – <Money amount={Number(most)} currency={currency} />
        </>
      )
    }
    case 'unknown-terminal':
      return value
    case 'repeated-transaction':
      return texts.sameAsLine(value.replace(/\D/g, ''))
    default:
      return <Money amount={Number(value)} currency={currency} />
  }
}
