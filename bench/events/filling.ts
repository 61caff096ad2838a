/** Makes events and deliveries for measurements: events through the outbox, deliveries directly in their table. */
import type { Database } from '../../src/db/database.ts'
import { sequenceEvents } from '../../src/events/sequence-store.ts'

/** Writes this many events into the outbox. Each event is for one bank, and the banks take turns. */
export async function tellMany(database: Database, bankIds: readonly string[], count: number): Promise<void> {
  await database.dedicated(client =>
    client.query(
      `insert into outbox (kind, account_type, data)
       select 'event', 'platform', jsonb_build_object('type', 'tariff.availability_changed', 'at', instant_text(now()),
         'banks', jsonb_build_array(($2::text[])[1 + n % $3]), 'platform', false,
         'text', '{"operatorCode":"kyivstar","tariffCode":"eu-' || n || 'gb","available":true}')
       from generate_series(1, $1::int) as n`,
      [count, bankIds, bankIds.length],
    ),
  )
}

/** Moves the events from the outbox to the feeds and numbers them, batch by batch, until none is left. */
export async function numberAll(database: Database): Promise<void> {
  while ((await sequenceEvents(database, true))?.mayBeMore);
}

/** Writes a finished delivery of an endpoint for each event of its account. */
export async function deliverAll(database: Database, endpointId: string): Promise<void> {
  await database.dedicated(async client => {
    await client.query(
      `insert into webhook_deliveries (delivery_id, day, account_type, account_id, endpoint_id, event_id, sequence, type, state, created_at, attempts)
       select uuid_at(e.recorded_at), e.day, e.account_type, e.account_id, w.endpoint_id, e.event_id, e.sequence, e.type,
         case when e.sequence % 1000 = 0 then 'failed' else 'delivered' end, e.recorded_at, 1
       from webhook_endpoints w join events e using (account_type, account_id) where w.endpoint_id = $1`,
      [endpointId],
    )
    await client.query(
      `insert into webhook_attempts (delivery_id, day, attempt, at, duration_ms, outcome, status_code)
       select delivery_id, day, 1, created_at, 12, 'delivered', 204 from webhook_deliveries where endpoint_id = $1`,
      [endpointId],
    )
  })
}
