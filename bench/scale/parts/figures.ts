/** Figures that count all orders and profiles: sales, stock, the operator's stock page and overview, metrics. */
import type { Figure } from '../../report.ts'
import { attempt, compareReads, compareSides, figureOf, flat, type Part } from '../compared.ts'
import type { Sides } from '../sides.ts'

const dayAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

export const figuresPart: Part = {
  name: 'figures',
  async run(_, sides) {
    const sales = `/portal/esim/sales?from=${dayAgo(89)}&to=${dayAgo(0)}`
    const figures: Figure[] = []
    for (const bank of ['big', 'tiny'] as const)
      figures.push(
        await compareReads(sides, `sales of 90 days of the ${bank} bank`, ({ tokens }) => ({
          token: tokens[bank],
          paths: [sales],
        })),
      )
    for (const path of ['/admin/stock', '/admin/stock-desk', '/admin/overview'])
      figures.push(
        await compareReads(sides, `GET ${path}`, ({ operatorKey }) => ({ token: operatorKey, paths: [path] })),
      )
    figures.push(
      await compareReads(sides, 'GET /portal/esim/stock', ({ tokens }) => ({
        token: tokens.big,
        paths: ['/portal/esim/stock'],
      })),
    )
    figures.push(await readMetrics(sides))
    return figures
  },
}

function readMetrics(sides: Sides): Promise<Figure> {
  const name = 'GET /metrics'
  return attempt(name, `<= ${flat.times}`, async () => {
    const compared = await compareSides(sides, async ({ metricsPort }) => {
      const start = performance.now()
      const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
      const text = await answer.text()
      if (!text.includes('perkline_stock_profiles{')) throw new Error('The metrics lack the stock')
      return performance.now() - start
    })
    return figureOf(name, compared, flat)
  })
}
