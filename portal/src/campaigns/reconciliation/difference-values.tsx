/** Formats the expected and the found value. The platform sends both as texts whose format depends on the kind. */
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { DateTime, Money, none, Period } from '../../ui/values.tsx'
import classes from '../campaigns.module.css'
import type { Difference } from '../types.ts'
import { reconciliationTexts } from './texts.ts'

type Props = { item: Difference; side: 'expected' | 'found'; currency: string }

export function DifferenceValue({ item, side, currency }: Props): ReactNode {
  const texts = useTexts(reconciliationTexts)
  const value = item[side]
  if (value === null) return none
  switch (item.kind) {
    case 'outside-period': {
      const [from = '', to = ''] = (item.expected ?? '').split('/')
      if (side === 'found') return <OutsidePeriod at={value} dateFrom={from} />
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
      return <Id text={value} />
    case 'repeated-transaction':
      return texts.sameAsLine(value.replace(/\D/g, ''))
    default:
      return <Money amount={Number(value)} currency={currency} />
  }
}

/**
 * Says whether an instant is before or after the period. The shown time is not enough, because it may be in the same
 * minute as the beginning or the end.
 */
function OutsidePeriod({ at, dateFrom }: { at: string; dateFrom: string }) {
  const texts = useTexts(reconciliationTexts)
  return (
    <>
      <DateTime at={at} />
      <Text size="sm" c="dimmed">
        {Date.parse(at) < Date.parse(dateFrom) ? texts.beforePeriod : texts.afterPeriod}
      </Text>
    </>
  )
}

/** An id from a report. Spaces are part of the id, so an id with spaces at its ends is shown in quotation marks. */
export function Id({ text }: { text: string }) {
  const format = useFormat()
  return <span className={classes.longId}>{text === text.trim() ? text : format.quoted(text)}</span>
}
