import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../data-table/columns.ts'
import { Count } from '../values.tsx'
import { Sums, salesOf, type Total } from './sums.tsx'
import { statementTexts } from './texts.ts'

type Listed = { day: string; number: number | null; late: number; totals: readonly Total[] }

/** The columns that lists of statements of banks and of the operator share. */
export function useStatementColumns<Row extends Listed>(): Column<Row>[] {
  const texts = useTexts(statementTexts)
  const format = useFormat()
  return [
    { key: 'number', title: texts.number, cell: ({ number }) => <Count value={number} /> },
    { key: 'sales', title: texts.sales, align: 'right', cell: ({ totals }) => format.number(salesOf(totals)) },
    { key: 'gross', title: texts.gross, align: 'right', cell: ({ totals }) => <Sums totals={totals} of="gross" /> },
    {
      key: 'commission',
      title: texts.commission,
      align: 'right',
      cell: ({ totals }) => <Sums totals={totals} of="commission" />,
    },
    { key: 'net', title: texts.net, align: 'right', cell: ({ totals }) => <Sums totals={totals} of="net" /> },
    { key: 'late', title: texts.late, align: 'right', cell: ({ late }) => <Count value={late} /> },
  ]
}
