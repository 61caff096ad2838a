/** Help beside the upload of a report. */
import { useTexts } from '../../i18n/preferences.tsx'
import type { Guide } from '../../ui/file-guide.tsx'
import type { Report } from '../types.ts'
import { reconciliationTexts } from './texts.ts'

/** The maximum size of a report that the platform accepts. */
export const maxReportBytes = 256 * 1024 * 1024

export function useReportGuide(side: Report['side']): Guide {
  const { columns } = useTexts(reconciliationTexts)
  const { cashbackAmount, optionalCashbackAmount, ...others } = columns
  return {
    columns: { ...others, cashbackAmount: side === 'bank' ? cashbackAmount : optionalCashbackAmount },
    template: {
      fileName: `${side}-report-template.csv`,
      rows: [
        ['TX-0001', 'T-0001', '2026-12-05T14:30:00+02:00', '1250.00', '62.50'],
        ['TX-0002', 'T-0002', '2026-12-06T09:05:00+02:00', '99.90', '5.00'],
      ],
    },
  }
}
