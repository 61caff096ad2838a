/**
 * Compares a large world with a small one in the same run, for everything that must not grow with the number of orders,
 * campaigns and banks.
 */
import { type Case, using } from '../bench.ts'
import type { Part } from '../scale/compared.ts'
import { auditPart } from '../scale/parts/audit.ts'
import { backOfficePart } from '../scale/parts/back-office.ts'
import { campaignsPart } from '../scale/parts/campaigns.ts'
import { figuresPart } from '../scale/parts/figures.ts'
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
  auditPart,
]

export const scaleCase: Case = {
  name: 'scale',
  run: bench =>
    using(startSides(bench, bench.sizes), async sides => {
      const figures = []
      for (const part of parts.filter(({ name }) => bench.parts.length === 0 || bench.parts.includes(name))) {
        bench.tell(`  ${part.name} ...`)
        figures.push(...(await part.run(bench, sides)))
      }
      return figures
    }),
}
