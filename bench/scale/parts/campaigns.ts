/**
 * Lists of campaigns: of partners with the same number of campaigns in both worlds, and of partners with far more in
 * the large one.
 */
import type { Figure } from '../../report.ts'
import { attempt, bounded, compareReads, compareSides, figureOf, flat, type Part, shown } from '../compared.ts'
import type { Partner, Side, Sides } from '../sides.ts'
import { campaignsOfSmall, campaignsOfSteady } from '../sizes.ts'

const page = '/portal/cashbacks?pageSize=50'
const merchantPage = '/cashbacks/for-merchant?pageSize=50'

/** The reads of each partner, by name. */
const reads = {
  bank: {
    home: '/portal/home',
    'table, page 1': page,
    'table, page 10': `${page}&page=10`,
    'table by percentage': `${page}&sortBy=percentage`,
    'table by end': `${page}&sortBy=dateTo`,
    'table in the order of names': `${page}&sortBy=name&sortOrder=ASC`,
    'table by status': `${page}&status=active`,
    'table by name': `${page}&name=${encodeURIComponent('осінь 7')}`,
    'table by a name that none has': `${page}&name=nothing`,
  },
  merchant: {
    home: '/portal/home',
    'list, page 1': merchantPage,
    'list by status': `${merchantPage}&status=active`,
    'list by name': `${merchantPage}&name=${encodeURIComponent('осінь 7')}`,
  },
  operator: {
    'campaigns, page 1': '/admin/campaigns?pageSize=50',
    'campaigns, page 10': '/admin/campaigns?pageSize=50&page=10',
    'campaigns by status': '/admin/campaigns?pageSize=50&status=active',
    'campaigns by a rare status': '/admin/campaigns?pageSize=50&status=paymentConfirmed',
    'campaigns of a bank': '/admin/campaigns?pageSize=50&bank=steady',
    'campaigns of a bank with a tenth of all': '/admin/campaigns?pageSize=50&bank=busy',
    'campaigns of a merchant': '/admin/campaigns?pageSize=50&merchant=small',
    'campaigns by name': `/admin/campaigns?pageSize=50&search=${encodeURIComponent('осінь 77')}`,
    'campaigns by a name that none has': '/admin/campaigns?pageSize=50&search=nothing',
  },
} as const

/**
 * These reads look at more campaigns in the large world: home pages show up to a few hundred, and searches by name and
 * sorts without an index read up to ten thousand.
 */
const boundedReads = /home|name|percentage|end/

export const campaignsPart: Part = {
  name: 'campaigns',
  async run(_, sides) {
    const tenth = (side: Side) => shown(Math.floor(side.sizes.campaigns / 10))
    const grown = `${tenth(sides.large)} campaigns against ${tenth(sides.small)}`
    return [
      ...(await readAll(sides, `bank with ${campaignsOfSteady} campaigns`, 'steady', reads.bank)),
      await readBankList(sides, 'steady', `bank with ${campaignsOfSteady} campaigns`),
      ...(await readAll(sides, `bank with ${grown}`, 'busy', reads.bank)),
      await readBankList(sides, 'busy', `bank with ${grown}`),
      ...(await readAll(sides, `merchant with ${campaignsOfSmall} campaigns`, 'merchant-small', reads.merchant)),
      ...(await readAll(sides, `merchant with ${grown}`, 'merchant-large', reads.merchant)),
      ...(await readAll(sides, 'operator', null, reads.operator)),
    ]
  },
}

async function readAll(
  sides: Sides,
  who: string,
  partner: Partner | null,
  paths: Record<string, string>,
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [what, path] of Object.entries(paths))
    figures.push(
      await compareReads(
        sides,
        `${who}: ${what}`,
        side => ({
          token: partner === null ? side.operatorKey : side.tokens[partner],
          paths: [path],
        }),
        boundedReads.test(what) ? bounded : flat,
      ),
    )
  return figures
}

/** Measures the time per megabyte of a read of the whole list, because the list grows with the bank's campaigns. */
function readBankList(sides: Sides, bank: 'steady' | 'busy', who: string): Promise<Figure> {
  const name = `${who}: the whole list, each megabyte`
  return attempt(name, `<= ${flat.times}`, async () => {
    const compared = await compareSides(sides, async ({ url, tokens }) => {
      const start = performance.now()
      const answer = await fetch(`${url}/cashbacks/for-bank`, { headers: { authorization: `Bearer ${tokens[bank]}` } })
      if (!answer.ok || !answer.body) throw new Error(`The list was answered with ${answer.status}`)
      let bytes = 0
      for await (const piece of answer.body) bytes += piece.length
      return (performance.now() - start) / (bytes / 1_000_000)
    })
    return figureOf(name, compared, flat)
  })
}
