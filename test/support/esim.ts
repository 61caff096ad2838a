/**
 * Shared by the tests of the eSIM API: a bank's calls, the form of its answers, and a check of the books by plain SQL.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '../../src/db/database.ts'
import { type ErrorCode, errorCodes } from '../../src/errors.ts'
import type { Answer, CallOptions, TestPlatform } from './platform.ts'

/** An answer together with the request that it belongs to. */
export type EsimAnswer = Answer & { method: string; path: string }

export type Bank = {
  token: string
  call(method: string, path: string, options?: CallOptions): Promise<EsimAnswer>
  operators(): Promise<EsimAnswer>
  tariffs(operatorCode?: string): Promise<EsimAnswer>
  /** `given` is the body's externalId, or fields that add to or replace the default ones. */
  reserve(given: string | Record<string, unknown>): Promise<EsimAnswer>
  read(orderId: string): Promise<EsimAnswer>
  confirm(orderId: string, customerEmail?: string): Promise<EsimAnswer>
  cancel(orderId: string): Promise<EsimAnswer>
  qr(orderId: string, query?: string): Promise<EsimAnswer>
}

/** A bank's backend; without a token it uses a new one of alpha. */
export async function openBank(platform: TestPlatform, token?: string): Promise<Bank> {
  return bankAt(platform, token ?? (await platform.bankToken()))
}

/** Like `openBank`, but with an existing token, for instance at another process. */
export function bankAt(platform: Pick<TestPlatform, 'call'>, token: string): Bank {
  const call: Bank['call'] = async (method, path, options = {}) => {
    const answer = await platform.call(method, `/esim/v1${path}`, { token, ...options })
    return { ...answer, method, path: `/esim/v1${path}`.split('?', 1)[0] ?? '' }
  }
  return {
    token,
    call,
    operators: () => call('GET', '/operators'),
    tariffs: (operatorCode = 'kyivstar') => call('GET', `/operators/${operatorCode}/tariffs`),
    reserve: given =>
      call('POST', '/orders', {
        body: {
          operatorCode: 'kyivstar',
          tariffCode: 'eu-10gb',
          ...(typeof given === 'string' ? { externalId: given } : given),
        },
      }),
    read: orderId => call('GET', `/orders/${orderId}`),
    confirm: (orderId, customerEmail) =>
      call('POST', `/orders/${orderId}/confirm`, customerEmail === undefined ? {} : { body: { customerEmail } }),
    cancel: orderId => call('POST', `/orders/${orderId}/cancel`),
    qr: (orderId, query = '') => call('GET', `/orders/${orderId}/qr${query}`),
  }
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Checks an error body of the eSIM API, and that it has no other fields.
 * @param message the expected message: a whole text, a list of texts, or a pattern
 */
export function assertError(answer: EsimAnswer, statusCode: number, message?: string | string[] | RegExp): void {
  const reasons: Record<number, string> = {
    400: 'Bad Request',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    405: 'Method Not Allowed',
    409: 'Conflict',
    413: 'Payload Too Large',
    415: 'Unsupported Media Type',
    429: 'Too Many Requests',
    503: 'Service Unavailable',
  }
  assert.equal(answer.status, statusCode, `${answer.method} ${answer.path}: ${answer.text}`)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json; charset=utf-8$/i)
  const { timestamp, message: said, ...rest } = answer.body
  assert.deepEqual(rest, { statusCode, path: answer.path, method: answer.method, error: reasons[statusCode] })
  assert.match(timestamp, instant)
  assert.ok(errorCodes.includes(answer.headers.get('perkline-error-code') as ErrorCode))
  const texts: unknown[] = Array.isArray(said) ? said : [said]
  assert.ok(texts.length > 0 && texts.every(text => typeof text === 'string' && text !== ''), JSON.stringify(said))
  if (message instanceof RegExp) assert.match(texts.join('\n'), message)
  else if (message !== undefined) assert.deepEqual(said, message)
  if (statusCode === 401)
    assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer(?: error="invalid_token")?$/)
  if (statusCode === 429 || statusCode === 503) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
}

export type OrderBody = {
  orderId: string
  externalId: string
  operatorCode: string
  tariffCode: string
  status: string
  msisdn: string | null
  reservedUntil: string | null
  createdAt: string
  confirmedAt: string | null
}

/**
 * Checks an Order of the eSIM API: it has exactly the fields of an Order, and null in each field that must be null in
 * its status.
 */
export function assertOrder(
  answer: EsimAnswer,
  expected: Partial<OrderBody> & { status: string },
  code = 200,
): OrderBody {
  assert.equal(answer.status, code, answer.text)
  const order: OrderBody = answer.body
  const fields = ['orderId', 'externalId', 'operatorCode', 'tariffCode', 'status']
  fields.push('msisdn', 'reservedUntil', 'createdAt', 'confirmedAt')
  assert.deepEqual(Object.keys(order).sort(), fields.sort())
  assert.match(order.orderId, uuid)
  assert.match(order.createdAt, instant)
  const { status } = order
  if (status === 'cancelled' || status === 'expired') assert.equal(order.msisdn, null)
  else assert.match(String(order.msisdn), /^\+\d{6,15}$/)
  if (status === 'reserved' || status === 'expired') {
    assert.match(String(order.reservedUntil), instant)
    assert.equal(Date.parse(order.reservedUntil ?? '') - Date.parse(order.createdAt), 15 * 60_000)
  } else assert.equal(order.reservedUntil, null)
  if (status === 'confirmed') assert.match(String(order.confirmedAt), instant)
  else assert.equal(order.confirmedAt, null)
  for (const [field, value] of Object.entries(expected)) assert.equal(order[field as keyof OrderBody], value, field)
  return order
}

export type Books = { profiles: number; free: number; reserved: number; sold: number; withdrawn: number }

/**
 * Checks the books of one tariff over all banks with plain SQL. It counts profiles that are on two live orders (`twice`),
 * orders without a profile of the tariff (`strange`), free profiles that a sale would not find (`lost`), and orders that were
 * confirmed or cancelled after the end of their reservation (`late`). There must be none.
 * @returns how many profiles the tariff has in each state
 */
export function provenBooks({ platform }: TestPlatform, tariffCode = 'eu-10gb'): Promise<Books> {
  return proveBooks(platform.database, platform.deps.esim.clock.now(), tariffCode)
}

/** Like `provenBooks`, but without a platform in this process. */
export async function proveBooks(database: Queryable, now: Date, tariffCode = 'eu-10gb'): Promise<Books> {
  const [row] = await database.query<Books & { twice: number; strange: number; lost: number; late: number }>(
    `with tariff as (select tariff_id from tariffs where code = $1),
     states as (
       select p.profile_id, p.tariff_id,
              coalesce(array_agg(o.status) filter (where o.status in ('confirmed', 'withdrawn')
                or o.status = 'reserved' and o.reserved_until > $2), '{}') as live,
              count(*) filter (where o.status = 'reserved' and o.reserved_until <= $2) as lapsed
       from profiles p left join orders o using (profile_id) where p.tariff_id in (table tariff) group by p.profile_id
     )
     select count(*)::int as profiles,
            count(*) filter (where live = '{}')::int as free,
            count(*) filter (where live = '{reserved}')::int as reserved,
            count(*) filter (where live = '{confirmed}')::int as sold,
            count(*) filter (where live = '{withdrawn}')::int as withdrawn,
            count(*) filter (where cardinality(live) > 1)::int as twice,
            count(*) filter (where live = '{}' and lapsed = 0
              and profile_id <= coalesce((select taken_up_to from stock_positions s where s.tariff_id = states.tariff_id), 0)
              and profile_id not in (select profile_id from returned_profiles))::int as lost,
            (select count(*)::int from orders o left join profiles p using (profile_id)
              where o.tariff_id in (table tariff) and p.tariff_id is distinct from o.tariff_id) as strange,
            (select count(*)::int from orders o
              where o.tariff_id in (table tariff) and coalesce(o.confirmed_at, o.cancelled_at) >= o.reserved_until) as late
     from states`,
    [tariffCode, now],
  )
  assert.ok(row)
  const { twice, strange, lost, late, ...books } = row
  assert.deepEqual({ twice, strange, lost, late }, { twice: 0, strange: 0, lost: 0, late: 0 })
  assert.equal(books.profiles, books.free + books.reserved + books.sold + books.withdrawn)
  return books
}

/**
 * Runs `work` for each item, at most `atOnce` at a time.
 * @returns the results in the order of the items
 */
export async function each<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await work(items[index] as Item, index)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}

export const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** The number of answers of each status code. */
export function tally(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Moves the sandbox clock by the contract's own operation. */
export async function advance(platform: TestPlatform, duration: string): Promise<void> {
  const answer = await platform.call('POST', '/sandbox/clock', {
    token: platform.config.operatorKey,
    body: { advance: duration },
  })
  assert.equal(answer.status, 200, answer.text)
}

/** Waits until the condition holds, checking every few milliseconds; fails after `withinMs`, a minute if left out. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const giveUpAt = performance.now() + withinMs
  while (!(await holds())) {
    assert.ok(performance.now() < giveUpAt, `never came true: ${what}`)
    await sleep(5)
  }
}

/**
 * Stops this process's clock at an instant, for moments that a running clock would skip.
 * @returns a function that restarts it
 */
export function stopClock(platform: TestPlatform, at: Date | string): { [Symbol.dispose](): void } {
  const { clock } = platform.platform.deps.esim
  const running = clock.now
  clock.now = () => new Date(at)
  return {
    [Symbol.dispose]() {
      clock.now = running
    },
  }
}

/** The test directory with some of its text replaced. */
export function changed(directory: string, ...replacements: [string, string][]): string {
  return replacements.reduce((text, [from, to]) => {
    assert.ok(text.includes(from), `not in the directory: ${from}`)
    return text.replace(from, to)
  }, directory)
}
