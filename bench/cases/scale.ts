/**
 * Compares a large generated database (world) with a small one in the same run. Measures everything whose cost must not
 * grow with the number of orders, campaigns and banks.
 */
import { type Case, using } from '../bench.ts'
import { figureTable } from '../report.ts'
import type { Part } from '../scale/compared.ts'
import { auditPart } from '../scale/parts/audit.ts'
import { backOfficePart } from '../scale/parts/back-office.ts'
import { campaignsPart } from '../scale/parts/campaigns.ts'
import { churnPart } from '../scale/parts/churn.ts'
import { figuresPart } from '../scale/parts/figures.ts'
import { importPart } from '../scale/parts/import.ts'
import { neighboursPart } from '../scale/parts/neighbours.ts'
import { ordersPart } from '../scale/parts/orders.ts'
import { sellingPart } from '../scale/parts/selling.ts'
import { sizePart } from '../scale/parts/size.ts'
import { startPart } from '../scale/parts/start.ts'
import { timePart } from '../scale/parts/time.ts'
import { startSides } from '../scale/sides.ts'

/** The audit comes last, because it checks what the other parts have done. */
const parts: readonly Part[] = [
  sizePart,
  ordersPart,
  backOfficePart,
  figuresPart,
  campaignsPart,
  startPart,
  sellingPart,
  neighboursPart,
  timePart,
  importPart,
  churnPart,
  auditPart,
]

export const scaleCase: Case = {
  name: 'scale',
  run: bench =>
    using(startSides(bench), async sides => {
      const figures = []
      for (const part of parts.filter(({ name }) => bench.parts.length === 0 || bench.parts.includes(name))) {
        bench.tell(`  ${part.name} ...`)
        const found = await part.run(bench, sides)
        bench.tell(figureTable(found))
        figures.push(...found)
      }
      return figures
    }),
}
