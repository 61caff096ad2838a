import type { Delivery } from './types.ts'

/**
 * The HTTP request of a delivery's last attempt. If there was no attempt yet, the request of the first attempt
 * (contract/webhooks.md, "The request").
 *
 * @param url the endpoint's current URL; null if the endpoint is deleted
 * @param body the event's bytes
 */
export function requestText(
  url: string | null,
  { endpointId, eventId, attempts }: Pick<Delivery, 'endpointId' | 'eventId' | 'attempts'>,
  body: string,
): string {
  const last = attempts.at(-1)
  const at = last ? String(Math.floor(Date.parse(last.at) / 1000)) : '…'
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Perkline-Webhooks/1',
    'webhook-id': eventId,
    'webhook-timestamp': at,
    'webhook-signature': 'v1,…',
    'perkline-endpoint-id': endpointId,
    'perkline-attempt': String(last?.attempt ?? 1),
  }
  const target = url === null ? null : new URL(url)
  return [
    `POST ${target ? target.pathname + target.search : '…'} HTTP/1.1`,
    ...(target ? [`host: ${target.host}`] : []),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\n')
}
