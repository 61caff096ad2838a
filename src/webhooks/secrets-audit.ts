/** Checks whether the secrets of endpoints can still be decrypted. */
import type { Check, Finding, Step } from '../db/check.ts'
import type { Sealer } from '../sealing.ts'
import { listSecrets } from './endpoint-store.ts'
import { findUnreadable } from './stored-secrets.ts'

export const secretsCheck: Check = {
  code: 'endpoint-secrets',
  name: 'the secret of each endpoint can be used',
  holds: '{secrets} secrets of endpoints can be decrypted',
  params: ['secrets'],
}

const openedAtOnce = 500

/**
 * Decrypts the secrets that sign requests now. An endpoint whose secret cannot be decrypted gets no events
 * (contract/webhooks.md, "Endpoints").
 */
export const secretsStep = (sealer: Sealer): Step => ({
  name: 'endpoint-secrets',
  table: 'webhook_secrets',
  async next(database, after) {
    const secrets = await listSecrets(database, after?.[0], openedAtOnce)
    const findings: Finding[] = findUnreadable(sealer, secrets).map(endpointId => ({
      code: secretsCheck.code,
      text: `a secret of endpoint ${endpointId} does not open: rotate it`,
    }))
    const last = secrets.at(-1)
    return {
      findings,
      counts: { [secretsCheck.code]: { secrets: secrets.length } },
      rows: secrets.length,
      reached: last && secrets.length === openedAtOnce ? [last.secretId] : null,
    }
  },
})
