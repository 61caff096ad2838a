import { Money, none } from '../values.tsx'

export type Total = { currency: string; sales: number; gross: string; commission: string; net: string }

/** Amounts of a statement, one line for each currency. */
export function Sums({ totals, of }: { totals: readonly Total[]; of: 'gross' | 'commission' | 'net' }) {
  if (totals.length === 0) return <span>{none}</span>
  return totals.map(total => (
    <div key={total.currency}>
      <Money amount={Number(total[of])} currency={total.currency} />
    </div>
  ))
}

export const salesOf = (totals: readonly Total[]): number => totals.reduce((sum, { sales }) => sum + sales, 0)
