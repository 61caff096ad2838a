/**
 * How the secrets of endpoints are encrypted. Each is bound to its endpoint and id. Checks that all of them can be
 * decrypted, and encrypts them again with the first master key.
 */
import type { Database, Queryable } from '../db/database.ts'
import { createSealer, type Sealer } from '../sealing.ts'
import { listSecrets, replaceSecret, type SealedSecret } from './endpoint-store.ts'

/** The purpose from which the keys for these secrets are derived. */
export const webhookPurpose = 'webhooks'

/** The additional data of the encryption. It binds a secret to its endpoint and id. */
export const placeOf = (endpointId: string, secretId: string): Buffer => Buffer.from(`${endpointId} ${secretId}`)

const listedAtOnce = 500

/** A secret and the endpoint that it belongs to. */
type ListedSecret = SealedSecret & { endpointId: string }

/** The currently valid secrets of all endpoints, at most 500 at a time. */
async function* allSecrets(database: Queryable): AsyncGenerator<ListedSecret[]> {
  for (let after: string | undefined; ; ) {
    const secrets = await listSecrets(database, after, listedAtOnce)
    yield secrets
    after = secrets.at(-1)?.secretId
    if (secrets.length < listedAtOnce) return
  }
}

/** The endpoint of each secret that cannot be decrypted. */
export const findUnreadable = (sealer: Sealer, secrets: readonly ListedSecret[]): string[] =>
  secrets.filter(secret => openSecret(sealer, secret) === null).map(({ endpointId }) => endpointId)

/**
 * @returns the secret; null when none of the keys decrypts it, it was encrypted for another endpoint or id, or it is
 *   damaged. Callers treat these cases alike
 */
export function openSecret(sealer: Sealer, { endpointId, secretId, sealed }: ListedSecret): Buffer | null {
  try {
    return sealer.open(sealed, placeOf(endpointId, secretId))
  } catch {
    return null
  }
}

/**
 * Encrypts all secrets again with the first master key, so that the other keys can be removed.
 *
 * @returns the endpoints with a secret that cannot be decrypted. Such a secret stays as it is
 */
export async function resealSecrets({
  database,
  masterKeys,
}: {
  database: Database
  masterKeys: readonly Buffer[]
}): Promise<string[]> {
  const sealer = createSealer(masterKeys, webhookPurpose)
  const unreadable: string[] = []
  for await (const secrets of allSecrets(database)) {
    unreadable.push(...findUnreadable(sealer, secrets))
    for (const secret of secrets.filter(({ sealed }) => !sealer.isCurrent(sealed)))
      await reseal(database, sealer, secret)
  }
  return [...new Set(unreadable)]
}

async function reseal(database: Database, sealer: Sealer, secret: ListedSecret): Promise<void> {
  const opened = openSecret(sealer, secret)
  if (opened === null) return
  const sealed = sealer.seal(opened, placeOf(secret.endpointId, secret.secretId))
  await replaceSecret(database, { ...secret, sealed }, secret.sealed)
}

/**
 * Checks that every endpoint's secret can be decrypted.
 *
 * @returns the number of secrets
 * @throws SealingError when none of the master keys decrypts one
 */
export async function checkSecrets(database: Queryable, masterKeys: readonly Buffer[]): Promise<number> {
  const sealer = createSealer(masterKeys, webhookPurpose)
  let opened = 0
  for await (const secrets of allSecrets(database)) {
    for (const { endpointId, secretId, sealed } of secrets) sealer.open(sealed, placeOf(endpointId, secretId))
    opened += secrets.length
  }
  return opened
}
