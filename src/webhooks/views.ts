/** Builds the answers about endpoints and deliveries. */
import { invisible, invisibleAbove } from '../text/visible.ts'
import type { Endpoint } from './endpoint-store.ts'
import type { Delivery } from './log-store.ts'

const instantOf = (at: Date | null): string | null => at?.toISOString() ?? null

export function endpointView(endpoint: Endpoint) {
  const { url, description, eventTypes, order, endpointId, status, disabledReason, position, pending, secrets } =
    endpoint
  return {
    endpointId,
    url,
    description,
    eventTypes,
    order,
    status,
    disabledReason,
    position,
    lag: Math.max(0, endpoint.lastSequence - position),
    pending,
    failingSince: instantOf(endpoint.failingSince),
    lastSuccessAt: instantOf(endpoint.lastSuccessAt),
    lastFailureAt: instantOf(endpoint.lastFailureAt),
    secrets: secrets ?? [],
    createdAt: endpoint.createdAt.toISOString(),
  }
}

/** The ETag. It changes with everything that a partner can change, and with the status. */
export const endpointTag = ({ endpointId, version }: Endpoint): string => `"${endpointId.slice(0, 8)}-${version}"`

const unseen = new RegExp(`[${invisible}${invisibleAbove}]`, 'gu')

/**
 * Makes the excerpt of a receiver's answer safe to show. It replaces invisible characters, some of which reverse the
 * direction of the text around them. Control characters were already replaced before the excerpt was stored.
 */
const shownExcerpt = (excerpt: string | null): string | null => excerpt?.replace(unseen, '\ufffd') ?? null

export const deliveryView = ({ day: _, createdAt, nextAttemptAt, attempts, ...delivery }: Delivery) => ({
  ...delivery,
  attempts: attempts.map(attempt => ({ ...attempt, responseExcerpt: shownExcerpt(attempt.responseExcerpt) })),
  createdAt: createdAt.toISOString(),
  nextAttemptAt: instantOf(nextAttemptAt),
})
