/** The commands of `perkline events` (contract/webhooks.md, "The operator"). */
import { callAdmin } from './connection.ts'
import { type AccountOptions, accountQuery } from './endpoints.ts'
import { type OutputOptions, plain, print } from './output.ts'

const maxLagSeconds = 60

type Event = { sequence: number; type: string; timestamp: string; data: object }

/** `perkline events tail`: the newest events of a feed, the oldest of them first. */
export async function tailEvents(options: AccountOptions & { limit?: string }): Promise<void> {
  const limit = options.limit === undefined ? '' : `&limit=${encodeURIComponent(options.limit)}`
  const found = await callAdmin<{ data: Event[] }>({ method: 'GET', path: `/events?${accountQuery(options)}${limit}` })
  const lines = found.data.map(({ sequence, type, timestamp, data }) =>
    plain(`${sequence} ${timestamp} ${type} ${JSON.stringify(data)}`),
  )
  print(options, found, lines.length === 0 ? ['There are no events yet.'] : lines)
}

type Status = {
  lastTickAt: string | null
  waiting: number
  lagSeconds: number
  endpoints: { enabled: number; failing: number; disabled: number }
  pending: number
}

/**
 * `perkline events status`: shows the state of events, endpoints and deliveries. The exit code is 1 when events have
 * waited for over a minute.
 */
export async function showEventsStatus(options: OutputOptions): Promise<void> {
  const status = await callAdmin<Status>({ method: 'GET', path: '/events/status' })
  const { enabled, failing, disabled } = status.endpoints
  print(options, status, [
    `last numbered: ${status.lastTickAt ?? 'never'}`,
    `waiting: ${status.waiting} (for ${Math.round(status.lagSeconds)} s)`,
    `endpoints: ${enabled} enabled, ${failing} failing, ${disabled} disabled`,
    `deliveries not finished: ${status.pending}`,
  ])
  if (status.lagSeconds > maxLagSeconds) process.exitCode = 1
}

/** `perkline events restart-feeds`. */
export async function restartFeeds(options: OutputOptions): Promise<void> {
  const restarted = await callAdmin<{ feeds: number }>({ method: 'POST', path: '/events/restart-feeds', json: {} })
  print(options, restarted, [`${restarted.feeds} feeds have begun anew.`])
}
