/** The home of a partner's people: one page of what waits, and bounded counts. */
import { pageView, skipped } from '../campaigns/paging.ts'
import type { Clock } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { countByStatus, findImposedCampaigns, findOpenCampaigns, type Party } from './home-store.ts'
import { countsView, imposedView, taskViews, totalsView } from './home-views.ts'

export type HomeRequest = { page: number; pageSize: number; waitsFor?: 'me' | 'other'; kind?: string }

/** Open campaigns that are looked through; those in which it is the caller's turn come first. */
const mostOpenCampaigns = 500
const mostCounted = 10_000
const mostImposed = 5

/** @param request which tasks, and which page of them; totals and counts are of everything */
export async function readHome(deps: { database: Queryable; clock: Clock }, party: Party, request: HomeRequest) {
  const { database, clock } = deps
  const [campaigns, counts, imposed] = await Promise.all([
    findOpenCampaigns(database, party, mostOpenCampaigns + 1),
    countByStatus(database, party, mostCounted),
    party.type === 'retailer' ? findImposedCampaigns(database, party.merchantId, mostImposed + 1) : [],
  ])
  const tasks = taskViews(campaigns.slice(0, mostOpenCampaigns), party, clock.now())
  const asked = tasks.filter(
    ({ waitsFor, kind }) => waitsFor === (request.waitsFor ?? waitsFor) && kind === (request.kind ?? kind),
  )
  const from = skipped(request)
  const { data, pagination } = pageView(asked.slice(from, from + request.pageSize), request, asked.length)
  return {
    tasks: data,
    pagination,
    totals: totalsView(tasks),
    isComplete: campaigns.length <= mostOpenCampaigns,
    bankCampaigns: { data: imposed.slice(0, mostImposed).map(imposedView), hasMore: imposed.length > mostImposed },
    counts: countsView(counts, party, mostCounted),
  }
}
