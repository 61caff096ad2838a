/** What banks do with orders: reserve, confirm, cancel, and read. Each verb is one function; none sees a request or a reply. */
import type { Clock } from '../clock.ts'
import { type Batcher, createBatcher } from '../db/batching.ts'
import type { Database } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import type { Catalogue, Tariff } from './catalogue.ts'
import { isEmailAddress } from './email-address.ts'
import { decide, requireConfirmed, reservationEnd, statusAt } from './lifecycle.ts'
import type { Mailer } from './mail.ts'
import { createOpenReservations } from './open-reservations.ts'
import { newOrderId } from './order-id.ts'
import { qrPng } from './qr.ts'
import type { ProfileSecrets, Sealing } from './sealing.ts'
import type { Candidate, Stock } from './stock.ts'
import type { Order, OrderKey, Reservation, SealedOrder } from './store.ts'
import * as store from './store.ts'

/** How the e-mail of a confirm went, as the header `x-email-delivery` tells it. */
export const emailDeliveries = ['sent', 'already-sent', 'unknown', 'failed'] as const
export type EmailDelivery = (typeof emailDeliveries)[number]

export type ReserveOutcome = 'reserved' | 'repeated' | 'mismatch' | 'unknown-tariff' | 'no-stock' | 'too-many'

export type EsimDeps = {
  database: Database
  clock: Clock
  catalogue: Catalogue
  stock: Stock
  sealing: Sealing
  mailer: Mailer
  openReservations: number
  /** Told of every reservation's and every e-mail's outcome, for the metrics. */
  observe: { reservation(outcome: ReserveOutcome): void; mail(outcome: EmailDelivery): void }
  /** Told of what went wrong behind an answer that could not wait for it. */
  onFault(error: unknown): void
}

export type Orders = {
  reserve(given: ReserveRequest): Promise<{ order: Order; repeated: boolean }>
  read(key: OrderKey): Promise<Order>
  confirm(given: ConfirmRequest): Promise<Confirmed>
  cancel(key: OrderKey): Promise<Order>
  qr(key: OrderKey): Promise<Buffer>
}

export type ReserveRequest = { bankId: string; operatorCode: string; tariffCode: string; externalId: string }
export type ConfirmRequest = OrderKey & { customerEmail: string | undefined }
export type Confirmed = {
  order: SealedOrder & { confirmedAt: Date; deliveryMode: store.DeliveryMode }
  secrets: ProfileSecrets
  /** null in `local` mode. */
  emailDelivery: EmailDelivery | null
}

const rowsOfAStatement = 64
const statementsInFlight = 2
const mostWaiting = 10_000

const busy = () => new DomainError('unavailable', 'Too many requests at once; try again', { retryAfterSeconds: 1 })

/** Whom the platform has no time for gets 503 before memory runs out. */
const batch = <Item, Result>(run: (items: Item[]) => Promise<(Result | Error)[]>): Batcher<Item, Result> =>
  createBatcher({
    run,
    maxItems: rowsOfAStatement,
    inFlight: statementsInFlight,
    maxWaiting: mostWaiting,
    onFull: busy,
  })

export function createOrders(deps: EsimDeps): Orders {
  const { database, clock, catalogue } = deps
  const readOrder = batch<OrderKey, Order | null>(keys => store.findOrders(database, keys))
  const confirmOrder = batch<store.Confirmation, store.ConfirmResult>(items =>
    rowByRowOnError(items, some => store.confirm(database, some, clock.now())),
  )

  const existing = async <T extends Order>(order: Promise<T | null>): Promise<T> => {
    const found = await order
    if (!found) throw new DomainError('not-found', 'There is no such order')
    return found
  }

  /**
   * Marks an order whose reservation is over before anybody is told so: or a confirm that is under way could still come first, and
   * an order that was seen expired would be confirmed.
   *
   * @returns true when the order has to be read again
   */
  const settleIfOver = async (order: Order): Promise<boolean> => {
    const now = clock.now()
    if (statusAt(order, now) === order.status) return false
    await store.expireOrder(database, order.orderId, now)
    return true
  }

  return {
    reserve: createReserve(deps, settleIfOver),

    /** The order without its secrets (GET /orders/{orderId}). @throws DomainError 'not-found' also for another bank's */
    async read(key) {
      for (;;) {
        const order = await existing(readOrder(key))
        if (!(await settleIfOver(order))) return order
      }
    },

    /**
     * Confirms a paid order and opens its profile (POST /orders/{orderId}/confirm); repeated, it answers the same.
     *
     * @throws DomainError 'invalid' for a wrong or missing e-mail address, 'not-found', 'conflict' when cancelled or expired
     */
    async confirm({ orderId, bankId, customerEmail }) {
      const { deliveryMode } = catalogue.bank(bankId)
      if (customerEmail !== undefined && !isEmailAddress(customerEmail))
        throw new DomainError('invalid', ['customerEmail must be an e-mail address'])
      if (deliveryMode === 'qr_email' && customerEmail === undefined) {
        // Only a repeat may leave it out.
        const found = await readOrder({ orderId, bankId })
        if (found?.status !== 'confirmed') throw new DomainError('invalid', ['customerEmail must be given'])
      }
      for (;;) {
        const result = await confirmOrder({ orderId, bankId, deliveryMode })
        if (!result) throw new DomainError('not-found', 'There is no such order')
        if (!result.moved) {
          if (await settleIfOver(result.order)) continue
          // Someone else moved the order between the reading and the writing of the statement: look again.
          if (decide(result.order, 'confirm', clock.now()).outcome === 'move') continue
        }
        return await answerConfirmed(deps, bankId, result.order, customerEmail)
      }
    },

    /**
     * Gives the profile of an unpaid order back (POST /orders/{orderId}/cancel); repeated, it answers the same.
     *
     * @throws DomainError 'not-found', 'conflict' when confirmed or expired
     */
    async cancel(key) {
      for (;;) {
        const cancelled = await store.cancel(database, key, clock.now())
        const order = await existing(store.findOrders(database, [key]).then(([found]) => found ?? null))
        if (cancelled) return order
        if (await settleIfOver(order)) continue
        if (decide(order, 'cancel', clock.now()).outcome === 'repeat') return order
      }
    },

    /** The activation code as a picture (GET /orders/{orderId}/qr). @throws DomainError 'not-found', 'conflict' */
    async qr(key) {
      const order = await existing(store.findSealedOrder(database, key))
      requireConfirmed(order, clock.now())
      return qrPng(deps.sealing.open(order.sealed, order.iccidHash).activationCode)
    },
  }
}

/** One bad row, or a deadlock, must not fail the requests that share its statement. */
async function rowByRowOnError<Item, Result>(
  items: Item[],
  run: (items: Item[]) => Promise<Result[]>,
): Promise<(Result | Error)[]> {
  try {
    return await run(items)
  } catch (error) {
    if (items.length === 1 || error instanceof DomainError) throw error
    const results: (Result | Error)[] = []
    for (const item of items) {
      const alone = await run([item]).catch((fault: Error) => [fault])
      results.push(...alone)
    }
    return results
  }
}

type Attempt = { reservation: Reservation; candidate: Candidate | null }
/** `candidate` is the profile that was really tried: those of one statement are handed out anew, see `arrange`. */
type AttemptResult = { result: store.ReserveResult | Error; candidate: Candidate | null }

function createReserve(deps: EsimDeps, settleIfOver: (order: Order) => Promise<boolean>): Orders['reserve'] {
  const { database, clock, catalogue, stock, observe } = deps
  const limit = createOpenReservations({
    limit: deps.openReservations,
    count: bankId => store.countOpen(database, bankId, clock.now(), deps.openReservations),
    onFault: deps.onFault,
  })

  const together = async (
    attempts: Attempt[],
    run: (reservations: Reservation[]) => Promise<store.ReserveResult[]>,
  ): Promise<AttemptResult[]> => {
    const arranged = arrange(attempts)
    const results = await rowByRowOnError(
      arranged.map(({ reservation }) => reservation),
      run,
    )
    const answers = new Map<string, AttemptResult>()
    for (const [index, { reservation, candidate }] of arranged.entries())
      answers.set(reservation.orderId, { result: results[index] ?? new Error('A reservation got lost'), candidate })
    return attempts.map(({ reservation }) => answers.get(reservation.orderId) as AttemptResult)
  }

  const insert = async (bankId: string, reservations: Reservation[]): Promise<store.ReserveResult[]> => {
    if (limit.far(bankId, reservations.length)) return store.reserve(database, reservations)
    const { results, open } = await database.transaction(transaction =>
      store.reserveWithinLimit(transaction, { bankId, reservations, limit: deps.openReservations }),
    )
    limit.counted(bankId, open)
    return results
  }

  // One for each bank: what waits for one bank's lock holds up no other.
  const batchers = new Map<string, Batcher<Attempt, AttemptResult>>()
  const batcherOf = (bankId: string): Batcher<Attempt, AttemptResult> => {
    const batcher = batchers.get(bankId) ?? batch(attempts => together(attempts, some => insert(bankId, some)))
    batchers.set(bankId, batcher)
    return batcher
  }

  /** One try to make the order. */
  const attempt = async (given: Attempt): Promise<AttemptResult> => {
    try {
      return await batcherOf(given.reservation.bankId)(given)
    } catch (error) {
      return { result: error as Error, candidate: given.candidate }
    }
  }

  return async ({ bankId, operatorCode, tariffCode, externalId }) => {
    const operator = catalogue.operatorFor(bankId, operatorCode)
    const tariff = operator?.tariffs.get(tariffCode)
    // Profiles that were tried in vain: taken by others, unless it turns out that the order was there already.
    const lost: Candidate[] = []
    for (;;) {
      const now = clock.now()
      const taken = tariff?.onSale ? await stock.take(tariff.tariffId) : null
      const reservation = reservationOf({ bankId, externalId, tariff, candidate: taken, now })
      const { result, candidate } = await attempt({ reservation, candidate: taken })
      const outcome = result instanceof Error ? 'error' : result.outcome
      if (tariff) {
        const tried = outcome === 'made' || outcome === 'not-made'
        if (candidate && tried) stock.used(tariff.tariffId, candidate)
        else if (candidate) stock.giveBack(tariff.tariffId, candidate)
        // Only now is it certain that the last try failed for the profile, and not for an order that was being made.
        if (tried && lost.length > 0) stock.overlapped(tariff.tariffId)
        if (!tried) for (const free of lost) stock.restore(tariff.tariffId, free)
      }
      if (result instanceof Error) throw result
      if (result.outcome === 'known') {
        if (!(await settleIfOver(result.order))) return repeat(result.order, operatorCode, tariffCode)
        lost.length = 0
        continue
      }
      if (!tariff) throw refuse('unknown-tariff', operator ? 'tariff' : 'operator')
      if (outcome === 'made' && candidate) {
        observe.reservation('reserved')
        return { order: madeOrder(reservation, tariff, candidate), repeated: false }
      }
      if (outcome === 'at-limit') {
        observe.reservation('too-many')
        throw new DomainError('too-many', 'Too many reservations are open; confirm or cancel some first', {
          retryAfterSeconds: 60,
        })
      }
      if (!candidate) throw refuse('no-stock', 'tariff')
      lost.push(candidate)
    }
  }

  /** By the codes: the tariff may be out of the bank's reach by now, and the order is answered all the same. */
  function repeat(order: Order, operatorCode: string, tariffCode: string): { order: Order; repeated: boolean } {
    if (order.operatorCode === operatorCode && order.tariffCode === tariffCode) {
      observe.reservation('repeated')
      return { order, repeated: true }
    }
    observe.reservation('mismatch')
    throw new DomainError('conflict', 'externalId must be new: it was used with another operatorCode or tariffCode')
  }

  function refuse(outcome: 'unknown-tariff' | 'no-stock', what: string): DomainError {
    observe.reservation(outcome)
    if (outcome === 'unknown-tariff') return new DomainError('not-found', `There is no such ${what}`)
    return new DomainError('unavailable', 'The tariff has no free profile at the moment', { retryAfterSeconds: 60 })
  }
}

/**
 * Gives the statement's rows one order, and hands the profiles out in that order too: two statements that want the same profiles
 * then wait for each other at most once, and never in a circle.
 */
function arrange(attempts: readonly Attempt[]): Attempt[] {
  const sorted = attempts.toSorted((a, b) => store.compareReservations(a.reservation, b.reservation))
  const candidates = Map.groupBy(
    sorted.filter(({ candidate }) => candidate !== null),
    ({ reservation }) => reservation.tariffId,
  )
  const queues = new Map(
    [...candidates].map(([tariffId, group]) => [
      tariffId,
      group.flatMap(({ candidate }) => candidate ?? []).sort((a, b) => a.profileId - b.profileId),
    ]),
  )
  return sorted.map(({ reservation, candidate }) => {
    const given = candidate === null ? null : (queues.get(reservation.tariffId)?.shift() ?? null)
    return { reservation: { ...reservation, profileId: given?.profileId ?? null }, candidate: given }
  })
}

function reservationOf(given: {
  bankId: string
  externalId: string
  tariff: Tariff | undefined
  candidate: Candidate | null
  now: Date
}): Reservation {
  const { bankId, externalId, tariff, candidate, now } = given
  return {
    orderId: newOrderId(now),
    bankId,
    externalId,
    tariffId: tariff?.tariffId ?? null,
    profileId: candidate?.profileId ?? null,
    price: tariff?.price ?? '0',
    currency: tariff?.currency ?? '',
    now,
    reservedUntil: reservationEnd(now),
  }
}

function madeOrder(reservation: Reservation, tariff: Tariff, { msisdn }: Candidate): Order {
  const { orderId, externalId, now, reservedUntil } = reservation
  return {
    orderId,
    externalId,
    tariffId: tariff.tariffId,
    operatorCode: tariff.operatorCode,
    tariffCode: tariff.code,
    status: 'reserved',
    msisdn,
    createdAt: now,
    reservedUntil,
    confirmedAt: null,
  }
}

async function answerConfirmed(
  deps: EsimDeps,
  bankId: string,
  order: SealedOrder,
  customerEmail: string | undefined,
): Promise<Confirmed> {
  const { confirmedAt, deliveryMode } = order
  if (confirmedAt === null || deliveryMode === null) throw new Error('A confirmed order lacks its confirmation')
  const secrets = deps.sealing.open(order.sealed, order.iccidHash)
  const confirmed = { order: { ...order, confirmedAt, deliveryMode }, secrets }
  if (deliveryMode === 'local') return { ...confirmed, emailDelivery: null }
  const emailDelivery = await deliver(deps, bankId, order, secrets.activationCode, customerEmail)
  deps.observe.mail(emailDelivery)
  return { ...confirmed, emailDelivery }
}

const repeatedDelivery: Record<store.MailState, EmailDelivery> = {
  sent: 'already-sent',
  sending: 'unknown',
  unknown: 'unknown',
  failed: 'failed',
}

/**
 * Sends the e-mail at most once (behaviour.md, section 4): marked before the first byte goes out, and the mark is taken back only
 * when it is certain that nothing arrived. Never fails: the activation is paid for.
 */
async function deliver(
  deps: EsimDeps,
  bankId: string,
  order: SealedOrder,
  activationCode: string,
  customerEmail: string | undefined,
): Promise<EmailDelivery> {
  const { orderId } = order
  const before = repeatedDelivery[order.mail ?? 'failed']
  if (before !== 'failed' || customerEmail === undefined) return before
  try {
    if (!(await store.claimMail(deps.database, orderId))) {
      const now = await store.findSealedOrder(deps.database, { orderId, bankId })
      return repeatedDelivery[now?.mail ?? 'sending']
    }
    const operator = deps.catalogue.operatorByCode(order.operatorCode)
    const outcome = await deps.mailer.send({
      to: customerEmail,
      activationCode,
      qrPng: qrPng(activationCode),
      operatorName: operator?.nameUk ?? order.operatorCode,
      tariffName: operator?.tariffs.get(order.tariffCode)?.name ?? order.tariffCode,
      bankName: deps.catalogue.bank(bankId).name,
      orderId,
    })
    await store.recordMail(deps.database, orderId, outcome)
    return outcome
  } catch (error) {
    deps.onFault(error)
    return 'unknown'
  }
}
