/**
 * The commands of `perkline endpoints`: the addresses that events are sent to (contract/webhooks.md, "The operator").
 */
import { callAdmin } from './connection.ts'
import { usageError } from './failure.ts'
import { type OutputOptions, plain, print, table } from './output.ts'

export type AccountOptions = OutputOptions & { bank?: string; merchant?: string; platform?: true }
export type ReplayOptions = OutputOptions & { from: string; to?: string; only?: string }

type Endpoint = {
  endpointId: string
  account: string
  url: string
  status: string
  disabledReason: string | null
  lag: number
  pending: number
  failingSince: string | null
}

/** The account as query parameters of the admin interface. */
export function accountQuery({ bank, merchant, platform }: AccountOptions): string {
  if ([bank, merchant, platform].filter(one => one !== undefined).length > 1)
    throw usageError('Please give only one of --bank CODE, --merchant CODE and --platform.')
  const params = { ...(bank && { bank }), ...(merchant && { merchant }), ...(platform && { platform: 'true' }) }
  return new URLSearchParams(params).toString()
}

const stateOf = ({ status, disabledReason, failingSince }: Endpoint): string =>
  disabledReason === null ? (failingSince === null ? status : 'failing') : `${status} (${disabledReason})`

/** `perkline endpoints list`. */
export async function listEndpoints(options: AccountOptions): Promise<void> {
  const found = await callAdmin<{ data: Endpoint[] }>({
    method: 'GET',
    path: `/webhook-endpoints?${accountQuery(options)}`,
  })
  const rows = found.data.map(one => [
    one.endpointId,
    plain(one.account),
    stateOf(one),
    one.lag,
    one.pending,
    plain(one.url),
  ])
  const lines = table(['ENDPOINT', 'FOR', 'STATE', 'LAG', 'PENDING', 'URL'], rows)
  print(options, found, rows.length === 0 ? ['There are no endpoints yet.'] : lines)
}

const pathOf = (id: string, action: string): string => `/webhook-endpoints/${encodeURIComponent(id)}/${action}`

/** `perkline endpoints enable ID` and `perkline endpoints disable ID`: switch an endpoint on or off. */
export async function switchEndpoint(id: string, action: 'enable' | 'disable', options: OutputOptions): Promise<void> {
  const endpoint = await callAdmin<Endpoint>({ method: 'POST', path: pathOf(id, action), json: {} })
  print(options, endpoint, [`The endpoint is ${stateOf(endpoint)}.`])
}

/** `perkline endpoints rotate-secret ID`: prints the new secret, which is not shown again. */
export async function rotateEndpointSecret(id: string, options: OutputOptions & { overlap?: string }): Promise<void> {
  const { overlap } = options
  const rotated = await callAdmin<{ secret: string; previousValidUntil: string }>({
    method: 'POST',
    path: pathOf(id, 'rotate-secret'),
    json: { ...(overlap !== undefined && { overlap }) },
  })
  print(options, rotated, [
    `secret: ${rotated.secret}`,
    `It is shown only now. The previous one signs, too, until ${rotated.previousValidUntil}.`,
  ])
}

/** `perkline endpoints replay ID`. */
export async function replayEndpoint(id: string, options: ReplayOptions): Promise<void> {
  const { from, to, only = 'all' } = options
  if (only !== 'all' && only !== 'failed') throw usageError('--only must be failed or all.')
  const edge = (text: string) => (/^\d+$/.test(text) ? Number(text) : text)
  const replay = await callAdmin<{ replayId: string; deliveries: number }>({
    method: 'POST',
    path: pathOf(id, 'replay'),
    json: { from: edge(from), ...(to !== undefined && { to: edge(to) }), only },
  })
  print(options, replay, [`${replay.deliveries} events are sent again (replay ${replay.replayId}).`])
}
