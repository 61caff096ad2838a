/** Who changes a campaign. */
import type { Caller } from '../../caller.ts'
import { clockOrigin, type Origin, originOfCaller } from '../../outbox/origin.ts'

/** Who made a change; `subject` is the portal user's id or the credential's clientId, `role` the role at that time. */
export type Actor = {
  type: Caller['type'] | 'clock'
  id: string | null
  subject: string | null
  role: string | null
  /** Who made the change, as the audit log stores it, and how the request came in. */
  origin: Origin
}

export const clockActor: Actor = { type: 'clock', id: null, subject: null, role: null, origin: clockOrigin }
/** A caller with the operator's key. */
export const operatorActor = (origin: Origin): Actor => ({
  type: 'platform',
  id: null,
  subject: null,
  role: null,
  origin,
})

export function actorOf(caller: Caller): Actor {
  const { type, subject, role } = caller
  const origin = originOfCaller(caller)
  if (type === 'bank') return { type, id: caller.bankId, subject, role, origin }
  return { type, id: type === 'retailer' ? caller.merchantId : null, subject, role, origin }
}
