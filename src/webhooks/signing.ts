/** Secrets of endpoints, and signatures (Standard Webhooks 1.0.0; contract/webhooks.md, "The request"). */
import { createHmac, type KeyObject, randomBytes } from 'node:crypto'

const secretBytes = 32
const prefix = 'whsec_'

export const makeSecret = (): Buffer => randomBytes(secretBytes)
/** The secret in the form that partners get. */
export const shownSecret = (secret: Buffer): string => prefix + secret.toString('base64')

export type Signed = { id: string; timestamp: number; body: string }

/**
 * The value of the header `webhook-signature`.
 *
 * @param secrets the newest first. Create each key once and reuse it, because creating a key takes longer than signing
 */
export const signatures = (secrets: readonly KeyObject[], { id, timestamp, body }: Signed): string =>
  secrets
    .map(secret => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ')
