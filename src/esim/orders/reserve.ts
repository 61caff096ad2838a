/** Reserves a profile for a limited time: which profile to try, how often, and how to answer a repeated externalId. */
import type { Clock } from '../../clock.ts'
import { createBatcherOfEach, createStatementBatcher, rowByRowOnError } from '../../db/batching.ts'
import type { Database } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import type { Catalogue, Tariff } from '../catalogue.ts'
import type { Candidate, Stock } from '../stock/stock.ts'
import { reservationEnd } from './lifecycle.ts'
import { createOpenReservations } from './open-reservations.ts'
import { newOrderId } from './order-id.ts'
import { createReservationShares } from './reservation-shares.ts'
import type { Reservation, ReserveResult } from './reserve-store.ts'
import * as store from './reserve-store.ts'
import type { Order } from './store.ts'

type ReserveOutcome = 'reserved' | 'repeated' | 'mismatch' | 'unknown-tariff' | 'no-stock' | 'too-many'

export type ReserveDeps = {
  database: Database
  clock: Clock
  catalogue: Catalogue
  stock: Stock
  openReservations: number
  /**
   * The share of a tariff's unsold stock that one bank may hold, in percent. It applies to banks that have no share of
   * their own.
   */
  reservationShare: number
  /** Called with the outcome of every reservation, for the metrics. */
  observe: { reservation(outcome: ReserveOutcome): void }
  /** Called with errors that do not make the request fail, such as a failed count in the background. */
  onError(error: unknown): void
}

/** @property caller who reserves, in the form of `callerName` */
type ReserveRequest = {
  bankId: string
  caller: string
  operatorCode: string
  tariffCode: string
  externalId: string
}
export type Reserve = (input: ReserveRequest) => Promise<{ order: Order; repeated: boolean }>

type Attempt = { reservation: Reservation; candidate: Candidate | null }
/**
 * `candidate` is the profile that was tried for this reservation. It may differ from the candidate of the `Attempt`,
 * because `arrange` exchanges the profiles among the reservations of a statement.
 */
type AttemptResult = { result: ReserveResult | Error; candidate: Candidate | null }

/**
 * Creates the function that reserves a profile of a tariff (POST /orders). If the externalId was used before, it
 * returns that order as it is now.
 *
 * @param lapsed handles reservations whose time is over. `isOver` says whether a reservation is over but not marked
 *   yet; `settle` marks it, and the order must then be read again
 * @returns a function that throws DomainError 'not-found' for an unknown tariff, 'external-id-mismatch' when the
 *   externalId belongs to another tariff, 'no-stock' without a free profile, 'off-sale' for a tariff that is switched
 *   off, 'too-many-reservations' at the bank's limit of open reservations
 */
export function createReserve(
  deps: ReserveDeps,
  lapsed: { isOver(order: Order): boolean; settle(order: Order): Promise<void> },
): Reserve {
  const { clock, catalogue, stock, observe } = deps
  const attempt = createAttempts(deps)
  const refused = (outcome: 'unknown-tariff' | 'no-stock' | 'too-many', error: DomainError): DomainError => {
    observe.reservation(outcome)
    return error
  }

  return async ({ bankId, caller, operatorCode, tariffCode, externalId }) => {
    const operator = catalogue.operatorFor(bankId, operatorCode)
    const tariff = operator?.tariffs.get(tariffCode)
    for (;;) {
      const now = clock.now()
      const taken = tariff?.onSale ? await stock.take(tariff.tariffId) : null
      const reservation = reservationOf({ bankId, caller, externalId, tariff, candidate: taken, now })
      const { result, candidate } = await attempt({ reservation, candidate: taken })
      const outcome = result instanceof Error ? 'error' : result.outcome
      if (tariff && candidate) {
        if (outcome === 'made' || outcome === 'not-made') stock.used(tariff.tariffId, candidate)
        else stock.giveBack(tariff.tariffId, candidate)
      }
      if (result instanceof Error) throw result
      if (result.outcome === 'known') {
        if (!lapsed.isOver(result.order)) return await repeat(deps, result.order, operatorCode, tariffCode)
        await lapsed.settle(result.order)
        continue
      }
      if (!tariff) throw refused('unknown-tariff', unknownTariff(operator ? 'tariff' : 'operator'))
      if (outcome === 'made' && candidate) {
        observe.reservation('reserved')
        return { order: madeOrder(reservation, tariff, candidate), repeated: false }
      }
      if (outcome === 'at-limit') throw refused('too-many', tooMany())
      if (!candidate) throw refused('no-stock', noStock(tariff.onSale))
      stock.overlapped(tariff.tariffId)
    }
  }
}

/**
 * Answers a repeated request. It compares only the codes of operator and tariff: if the bank has lost access to the
 * tariff since the first request, it must still get its order.
 */
async function repeat({ catalogue, observe }: ReserveDeps, order: Order, operatorCode: string, tariffCode: string) {
  const tariff = await catalogue.tariffOf(order.tariffId)
  if (tariff.operatorCode === operatorCode && tariff.code === tariffCode) {
    observe.reservation('repeated')
    return { order, repeated: true }
  }
  observe.reservation('mismatch')
  throw new DomainError(
    'external-id-mismatch',
    'externalId must be new: it was used with another operatorCode or tariffCode',
  )
}

function unknownTariff(what: 'operator' | 'tariff'): DomainError {
  return new DomainError('not-found', `There is no such ${what}`)
}

const retryLater = { retryAfterSeconds: 60 }

function noStock(onSale: boolean): DomainError {
  return onSale
    ? new DomainError('no-stock', 'The tariff has no free profile at the moment', retryLater)
    : new DomainError('off-sale', 'The tariff is not on sale at the moment', retryLater)
}

function tooMany(): DomainError {
  return new DomainError(
    'too-many-reservations',
    'Too many reservations are open; confirm or cancel some first',
    retryLater,
  )
}

/**
 * Creates a function that tries once to make an order. Attempts of one bank that arrive together share a statement. The
 * function does not throw: it returns an error as the result.
 */
function createAttempts(deps: ReserveDeps): (attempt: Attempt) => Promise<AttemptResult> {
  const { database, clock } = deps
  const limit = createOpenReservations({
    limit: deps.openReservations,
    count: bankId => store.countOpen(database, bankId, clock.now(), deps.openReservations),
    onError: deps.onError,
  })

  const shares = createReservationShares(database)

  const insert = async (bankId: string, reservations: Reservation[]): Promise<ReserveResult[]> => {
    const share = deps.catalogue.bank(bankId).reservationShare ?? deps.reservationShare
    if (share === 100 && limit.far(bankId, reservations.length)) return store.reserve(database, reservations)
    const tariffIds = reservations.flatMap(({ tariffId }) => tariffId ?? [])
    const ofTariffs = share === 100 ? null : await shares.limitsOf(tariffIds, share)
    const { results, open } = await database.transaction(transaction =>
      store.reserveWithinShares(transaction, { bankId, reservations, limit: deps.openReservations, ofTariffs }),
    )
    limit.counted(bankId, open)
    return results
  }

  const together = async (bankId: string, attempts: Attempt[]): Promise<AttemptResult[]> => {
    const arranged = arrange(attempts)
    const results = await rowByRowOnError(
      arranged.map(({ reservation }) => reservation),
      some => insert(bankId, some),
    )
    const answers = new Map<string, AttemptResult>()
    for (const [index, { reservation, candidate }] of arranged.entries())
      answers.set(reservation.orderId, { result: results[index] ?? new Error('A reservation got lost'), candidate })
    return attempts.map(({ reservation }) => answers.get(reservation.orderId) as AttemptResult)
  }

  const batcherOf = createBatcherOfEach((bankId: string) =>
    createStatementBatcher<Attempt, AttemptResult>(attempts => together(bankId, attempts)),
  )

  return async attempt => {
    try {
      return await batcherOf(attempt.reservation.bankId)(attempt)
    } catch (error) {
      return { result: error as Error, candidate: attempt.candidate }
    }
  }
}

/**
 * Sorts the rows of a statement, and gives them the profiles in the order of the profiles' ids. So two statements try
 * the same profiles in the same sequence, and wait for each other at most once.
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
    const input = candidate === null ? null : (queues.get(reservation.tariffId)?.shift() ?? null)
    return { reservation: { ...reservation, profileId: input?.profileId ?? null }, candidate: input }
  })
}

function reservationOf(input: {
  bankId: string
  caller: string
  externalId: string
  tariff: Tariff | undefined
  candidate: Candidate | null
  now: Date
}): Reservation {
  const { bankId, caller, externalId, tariff, candidate, now } = input
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
    caller,
  }
}

function madeOrder(reservation: Reservation, tariff: Tariff, { msisdn }: Candidate): Order {
  const { orderId, externalId, now, reservedUntil } = reservation
  return {
    orderId,
    externalId,
    tariffId: tariff.tariffId,
    status: 'reserved',
    msisdn,
    createdAt: now,
    reservedUntil,
    confirmedAt: null,
  }
}
