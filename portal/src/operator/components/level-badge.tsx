import { Badge } from '@mantine/core'
import { useTexts } from '../../i18n/preferences.tsx'
import type { StockLine } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const levelColor = { enough: 'perk', low: 'orange', out: 'red' } as const

/** Shows whether a tariff needs new profiles. If the tariff is not on sale, the badge shows only that. */
export function LevelBadge({ line: { level, isOffered } }: { line: Pick<StockLine, 'level' | 'isOffered'> }) {
  const { stock: texts } = useTexts(operatorTexts)
  if (!isOffered) return <Badge color="gray">{texts.offSale}</Badge>
  return <Badge color={levelColor[level]}>{texts.levels[level]}</Badge>
}
