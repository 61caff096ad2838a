/** SQL of endpoints and their secrets. */
import type { Account } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import { lastSequence } from '../events/sequence-store.ts'

export const endpointOrders = ['concurrent', 'serial'] as const
export type EndpointOrder = (typeof endpointOrders)[number]
export const endpointStatuses = ['enabled', 'disabled'] as const
type EndpointStatus = (typeof endpointStatuses)[number]
export const disabledReasons = ['partner', 'operator', 'gone', 'failing'] as const
export type DisabledReason = (typeof disabledReasons)[number]

export type Endpoint = {
  endpointId: string
  accountType: Account['type']
  accountId: string
  url: string
  description: string | null
  eventTypes: string[] | null
  order: EndpointOrder
  status: EndpointStatus
  disabledReason: DisabledReason | null
  position: number
  failingSince: Date | null
  lastSuccessAt: Date | null
  lastFailureAt: Date | null
  version: number
  createdAt: Date
  lastSequence: number
  removedThrough: number
  pending: number
  secrets: { createdAt: string; validUntil: string | null }[]
}

/** The limit of unfinished deliveries of an endpoint. */
export const maxPending = 1_000
/** SQL for the number of unfinished deliveries of an endpoint. @param endpoint SQL for its id */
export const pendingOf = (endpoint: string): string =>
  `(select count(*)::int from webhook_deliveries d where d.endpoint_id = ${endpoint} and d.state = 'pending')`
/**
 * SQL: whether attempts at an endpoint may begin. While its bank or merchant is suspended, its deliveries wait.
 * @param endpoint SQL for its row
 */
export const isServed = (endpoint: string): string => `
  ${endpoint}.status = 'enabled' and ${endpoint}.deleted_at is null
    and not exists (select from banks where bank_id = ${endpoint}.account_id and status = 'suspended')
    and not exists (select from merchants where merchant_id = ${endpoint}.account_id and status = 'suspended')`
/** The limit of endpoints of an account. */
export const maxEndpoints = 10

const columns = `
  e.endpoint_id as "endpointId", e.account_type as "accountType", e.account_id as "accountId", e.url, e.description,
  e.event_types as "eventTypes", e.delivery_order as "order", e.status, e.disabled_reason as "disabledReason", e.position,
  e.failing_since as "failingSince", e.last_success_at as "lastSuccessAt", e.last_failure_at as "lastFailureAt", e.version,
  e.created_at as "createdAt", f.removed_through as "removedThrough", ${lastSequence} as "lastSequence",
  ${pendingOf('e.endpoint_id')} as pending,
  (select json_agg(json_build_object('createdAt', instant_text(s.created_at), 'validUntil', instant_text(s.valid_until))
     order by s.created_at desc)
   from webhook_secrets s where s.endpoint_id = e.endpoint_id and (s.valid_until is null or s.valid_until > now())) as secrets`
const ofLive = `from webhook_endpoints e join feeds f using (account_type, account_id) where e.deleted_at is null`

export const accountOfEndpoint = ({
  accountType,
  accountId,
}: Pick<Endpoint, 'accountType' | 'accountId'>): Account => ({
  type: accountType,
  id: accountId,
})

/** The account's endpoints, the oldest first. */
export function findEndpoints(database: Queryable, { type, id }: Account): Promise<Endpoint[]> {
  return database.query<Endpoint>(
    `select ${columns} ${ofLive} and e.account_type = $1 and e.account_id = $2 order by date_trunc('milliseconds', e.created_at), e.endpoint_id`,
    [type, id],
  )
}

/** The endpoints of one account, or of all accounts; disabled ones first. */
export function findAllEndpoints(database: Queryable, account: Account | null): Promise<Endpoint[]> {
  return database.query<Endpoint>(
    `select ${columns} ${ofLive} and ($1::text is null or e.account_type = $1 and e.account_id = $2::uuid)
     order by e.status, e.created_at, e.endpoint_id limit 10000`,
    [account?.type ?? null, account?.id ?? null],
  )
}

/** @param account the account that must own it; null: any. @returns null when there is no such endpoint */
export async function findEndpoint(
  database: Queryable,
  account: Account | null,
  endpointId: string,
): Promise<Endpoint | null> {
  const [endpoint] = await database.query<Endpoint>(
    `select ${columns} ${ofLive} and e.endpoint_id = $1
       and ($2::text is null or e.account_type = $2 and e.account_id = $3::uuid)`,
    [endpointId, account?.type ?? null, account?.id ?? null],
  )
  return endpoint ?? null
}

/** Locks an endpoint until the transaction ends. Returns its state after the lock was taken. */
export async function lockEndpoint(
  transaction: Queryable,
  account: Account | null,
  endpointId: string,
): Promise<Endpoint | null> {
  await transaction.query('select from webhook_endpoints where endpoint_id = $1 for update', [endpointId])
  return findEndpoint(transaction, account, endpointId)
}

/** Whether the endpoint was deleted. @param account the account that must have owned it; null: any */
export async function isDeleted(database: Queryable, account: Account | null, endpointId: string): Promise<boolean> {
  const rows = await database.query(
    `select from webhook_endpoints where endpoint_id = $1 and deleted_at is not null
       and ($2::text is null or account_type = $2 and account_id = $3::uuid)`,
    [endpointId, account?.type ?? null, account?.id ?? null],
  )
  return rows.length > 0
}

/** Locks the account, so that its endpoints are created one after the other and never exceed `maxEndpoints`. */
export async function lockAccount(transaction: Queryable, { type, id }: Account): Promise<void> {
  await transaction.query('select from feeds where account_type = $1 and account_id = $2 for no key update', [type, id])
}

export type NewEndpoint = Pick<Endpoint, 'endpointId' | 'url' | 'description' | 'eventTypes' | 'order' | 'position'> & {
  account: Account
}

export async function insertEndpoint(transaction: Queryable, endpoint: NewEndpoint): Promise<void> {
  const { endpointId, account, url, description, eventTypes, order, position } = endpoint
  await transaction.execute(
    `insert into webhook_endpoints
       (endpoint_id, account_type, account_id, url, description, event_types, delivery_order, status, position, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'enabled', $8, now())`,
    [endpointId, account.type, account.id, url, description, eventTypes, order, position],
  )
}

export type EndpointChange = Partial<Pick<Endpoint, 'url' | 'description' | 'eventTypes' | 'order'>>

export async function updateEndpoint(
  transaction: Queryable,
  endpointId: string,
  change: EndpointChange,
): Promise<void> {
  const has = (name: keyof EndpointChange) => Object.hasOwn(change, name)
  await transaction.execute(
    `update webhook_endpoints set url = case when $2 then $3 else url end, description = case when $4 then $5 else description end,
       event_types = case when $6 then $7::text[] else event_types end,
       delivery_order = case when $8 then $9 else delivery_order end, version = version + 1
     where endpoint_id = $1`,
    [
      endpointId,
      has('url'),
      change.url ?? null,
      has('description'),
      change.description ?? null,
      has('eventTypes'),
      change.eventTypes ?? null,
      has('order'),
      change.order ?? null,
    ],
  )
}

export async function enableEndpoint(
  transaction: Queryable,
  { endpointId, position }: { endpointId: string; position: number },
): Promise<void> {
  await transaction.execute(
    `update webhook_endpoints set status = 'enabled', disabled_reason = null, position = $2, failing_since = null, failing_told = false,
       failed_attempts = 0, failed_in_row = 0, probe_at = null, probes = 0, version = version + 1 where endpoint_id = $1`,
    [endpointId, position],
  )
  await transaction.execute(
    `update webhook_deliveries set next_attempt_at = now() where endpoint_id = $1 and state = 'pending'`,
    [endpointId],
  )
}

export async function disableEndpoint(
  transaction: Queryable,
  { endpointId, reason }: { endpointId: string; reason: DisabledReason },
): Promise<void> {
  await transaction.execute(
    `update webhook_endpoints set status = 'disabled', disabled_reason = $2, version = version + 1 where endpoint_id = $1`,
    [endpointId, reason],
  )
}

/** Marks all pending deliveries as skipped, and ends the replays. */
export async function skipPending(transaction: Queryable, endpointId: string): Promise<void> {
  await transaction.execute(
    `update webhook_deliveries set state = 'skipped', next_attempt_at = null where endpoint_id = $1 and state = 'pending'`,
    [endpointId],
  )
  await transaction.execute('delete from webhook_replays where endpoint_id = $1', [endpointId])
}

/** Marks an endpoint as deleted: skips its pending deliveries and deletes its secrets. The log of its deliveries is kept. */
export async function deleteEndpoint(transaction: Queryable, endpointId: string): Promise<void> {
  await skipPending(transaction, endpointId)
  await transaction.execute('delete from webhook_secrets where endpoint_id = $1', [endpointId])
  await transaction.execute(
    `update webhook_endpoints set deleted_at = now(), status = 'disabled' where endpoint_id = $1`,
    [endpointId],
  )
}

export type SealedSecret = { secretId: string; sealed: Buffer }

export type SecretOfEndpoint = SealedSecret & { endpointId: string; validUntil: Date | null }

/** The currently valid secrets of these endpoints, the newest first. */
export function findSecrets(database: Queryable, endpointIds: readonly string[]): Promise<SecretOfEndpoint[]> {
  return database.query<SecretOfEndpoint>(
    {
      name: 'webhooks.find-secrets',
      text: `
        select endpoint_id as "endpointId", secret_id as "secretId", sealed, valid_until as "validUntil" from webhook_secrets
        where endpoint_id = any($1) and (valid_until is null or valid_until > now())
        order by created_at desc, valid_until desc nulls first`,
    },
    [endpointIds],
  )
}

/**
 * The valid secrets of all endpoints, ordered by secret id. Expired secrets are left out, because they are never used
 * again.
 *
 * @param after the last secret id of the previous page; undefined: the first page
 */
export function listSecrets(
  database: Queryable,
  after: string | undefined,
  limit: number,
): Promise<(SealedSecret & { endpointId: string })[]> {
  return database.query(
    `select endpoint_id as "endpointId", secret_id as "secretId", sealed from webhook_secrets
     where ($1::uuid is null or secret_id > $1) and (valid_until is null or valid_until > now()) order by secret_id limit $2`,
    [after ?? null, limit],
  )
}

export async function replaceSecret(
  database: Queryable,
  { endpointId, secretId, sealed }: SealedSecret & { endpointId: string },
  before: Buffer,
): Promise<void> {
  await database.execute(
    'update webhook_secrets set sealed = $3 where endpoint_id = $1 and secret_id = $2 and sealed = $4',
    [endpointId, secretId, sealed, before],
  )
}

export async function insertSecret(
  transaction: Queryable,
  { endpointId, secretId, sealed }: SealedSecret & { endpointId: string },
): Promise<void> {
  await transaction.execute(
    'insert into webhook_secrets (endpoint_id, secret_id, sealed, created_at) values ($1, $2, $3, now())',
    [endpointId, secretId, sealed],
  )
}

/**
 * Lets the current secret expire after the overlap. If an older secret is still valid, it is deleted at once.
 *
 * @returns the current secret, and when it expires
 */
export async function endSecrets(
  transaction: Queryable,
  endpointId: string,
  overlapMs: number,
): Promise<SealedSecret & { validUntil: Date }> {
  await transaction.execute('delete from webhook_secrets where endpoint_id = $1 and valid_until is not null', [
    endpointId,
  ])
  const [row] = await transaction.query<SealedSecret & { validUntil: Date }>(
    `update webhook_secrets set valid_until = now() + $2 * interval '1 millisecond' where endpoint_id = $1
     returning secret_id as "secretId", sealed, valid_until as "validUntil"`,
    [endpointId, overlapMs],
  )
  await transaction.execute('update webhook_endpoints set version = version + 1 where endpoint_id = $1', [endpointId])
  if (!row) throw new Error('An endpoint has no present secret')
  return row
}
