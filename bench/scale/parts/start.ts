/** Measures how long a platform takes to start on each world, and how much memory it uses. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startPlatform } from '../../platform.ts'
import { memoryOf } from '../../processes.ts'
import type { Figure } from '../../report.ts'
import { median } from '../../rounds.ts'
import { attempt, compareSides, figureOf, flat, type Part } from '../compared.ts'
import type { Side, Sides } from '../sides.ts'

const settleMs = 1_000

export const startPart: Part = {
  name: 'start',
  async run(_, sides) {
    const memory = new Map<Side, number[]>([sides.small, sides.large].map(side => [side, []]))
    const start = await attempt('start', `<= ${flat.times}`, async () => {
      const compared = await compareSides(sides, async side => {
        const began = performance.now()
        const platform = await startPlatform(side.settings)
        const ms = performance.now() - began
        await sleep(settleMs)
        memory.get(side)?.push(memoryOf(platform.child.pid).nowMb)
        await platform.stop()
        return ms
      })
      return figureOf('start of another process', compared, { times: 1.5 })
    })
    return [start, figureOfMemory(sides, memory)]
  },
}

function figureOfMemory(sides: Sides, memory: Map<Side, number[]>): Figure {
  const [ours, limit] = [sides.large, sides.small].map(side => median(memory.get(side) ?? [])) as [number, number]
  const ratio = ours / limit
  return {
    name: 'its memory after a second',
    ours: `${Math.round(ours)} MB`,
    limit: `${Math.round(limit)} MB`,
    ratio,
    target: '<= 1.5',
    pass: ratio <= 1.5,
  }
}
