/** Builds the answers about endpoints and deliveries. */
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

export const deliveryView = ({ day: _, createdAt, nextAttemptAt, ...delivery }: Delivery) => ({
  ...delivery,
  createdAt: createdAt.toISOString(),
  nextAttemptAt: instantOf(nextAttemptAt),
})
