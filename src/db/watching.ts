/** Work without a time limit, on a connection that is watched from another one (`silence.ts`). */
import type pg from 'pg'
import { mapError } from './errors.ts'
import { type Connection, openClient } from './session.ts'
import { endLeftSession, endWhenSilent } from './silence.ts'

/**
 * Runs work without a time limit. The work fails when its connection is lost without an error. The connection must not be used
 * again after a failure.
 */
export async function watched<T, Client extends pg.ClientBase>(
  connection: Connection,
  client: Client,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const unwatch = endWhenSilent(client, look => onAnother(connection, look))
  try {
    return await work(client)
  } catch (error) {
    giveUp(connection, client)
    return mapError(error)
  } finally {
    unwatch()
  }
}

async function onAnother(connection: Connection, ask: (other: pg.Client) => Promise<void>): Promise<void> {
  const other = await openClient(connection)
  await ask(other).finally(() => void other.end().catch(() => {}))
}

/**
 * Ends the session that a failed connection may have left on the server. It runs in the background, because the network
 * may not answer.
 */
export function giveUp(connection: Connection, client: pg.ClientBase): void {
  const failedAtMs = performance.now()
  void onAnother(connection, other => endLeftSession(other, client, failedAtMs)).catch(() => {})
}
