/** Measures how long a large import takes in a world that already has stock. */
import { attempt, figureOf, flat, type Part, shown } from '../compared.ts'
import { importStock } from '../stock.ts'

export const importPart: Part = {
  name: 'import',
  async run(bench, { small, large }) {
    const count = bench.quick ? 20_000 : 1_000_000
    const name = `import of ${shown(count)} profiles on top of ${shown(large.sizes.profiles)}, against on top of ${shown(small.sizes.profiles)}`
    const figure = await attempt(name, `<= ${flat.times}`, async () => {
      const limit = await importStock(small, count)
      const ours = await importStock(large, count)
      return figureOf(name, { ours, limit, ratio: ours / limit, ratios: [] }, { times: flat.times })
    })
    return [figure]
  },
}
