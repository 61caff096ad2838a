/** The operations of banks on orders: reserve, confirm, cancel and read. They are independent of HTTP. */
import { randomUUID } from 'node:crypto'
import { createBatcherOfEach, createStatementBatcher, rowByRowOnError } from '../../db/batching.ts'
import { broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { isEmailAddress } from '../../mail/address.ts'
import type { MailOutcome } from '../../mail/delivery.ts'
import type { DeliveryMode } from '../../partners/delivery-modes.ts'
import { qrPng } from '../../text/qr.ts'
import { persist } from '../../work/persist.ts'
import type { EsimMail, Mailer } from '../delivery/mail.ts'
import type { ProfileSecrets, Sealing } from '../stock/sealing.ts'
import type { ActivationReads } from './activation-reads.ts'
import { createOrderReader, type OrderName, settle } from './known-orders.ts'
import { decide, requireConfirmed, statusAt } from './lifecycle.ts'
import { type MailState, shownMail } from './mail-state.ts'
import { claimingMs, claimMail, type MailAttempt, recordingMs, recordMail, withdrawClaim } from './mail-store.ts'
import { createReserve, type Reserve, type ReserveDeps } from './reserve.ts'
import type { Order, OrderKey, SealedOrder } from './store.ts'
import * as store from './store.ts'

/** The outcome of the e-mail of a confirm, as in the header `x-email-delivery`. */
export const emailDeliveries = ['sent', 'already-sent', 'unknown', 'failed'] as const
type EmailDelivery = (typeof emailDeliveries)[number]

export type EsimDeps = ReserveDeps & {
  sealing: Sealing
  mailer: Mailer
  activationReads: ActivationReads
  /** Days for which phone numbers are kept after the order; null: forever. */
  msisdnDays: number | null
  /** Called with the outcome of every e-mail, for the metrics. */
  observe: { mail(outcome: EmailDelivery): void }
}

export type Orders = {
  reserve: Reserve
  read(key: OrderKey): Promise<Order>
  confirm(input: ConfirmRequest): Promise<Confirmed>
  cancel(key: ActingOn): Promise<Order>
  qr(input: QrRequest): Promise<Buffer>
}

/** @param caller who acts, in the form of `callerName` */
type ActingOn = OrderKey & { caller: string }
/** @property isShown whether the caller gets the picture; if so, the read is counted */
type QrRequest = ActingOn & { isShown: boolean }
/** @property paymentReference null: the request has no payment reference, or an invalid one */
type ConfirmRequest = ActingOn & { customerEmail: string | undefined; paymentReference?: string | null }
export type Confirmed = {
  order: SealedOrder & { confirmedAt: Date; deliveryMode: DeliveryMode }
  secrets: ProfileSecrets
  /** null in `local` mode. */
  emailDelivery: EmailDelivery | null
}

export function createOrders(deps: EsimDeps): Orders {
  const { database, clock, catalogue } = deps
  const readOrder = createOrderReader<Order>(deps, {
    find: names => store.findOrders(database, names.map(keyOf)),
    maxKept: maxKnown,
  })
  const confirmOrder = createBatcherOfEach((bankId: string, deliveryMode: DeliveryMode, caller: string) =>
    createStatementBatcher<store.ConfirmItem, store.ConfirmResult | null>(items =>
      rowByRowOnError(items, some => store.confirm(database, { bankId, deliveryMode, caller, now: clock.now() }, some)),
    ),
  )

  const isOver = (order: Order): boolean => statusAt(order, clock.now()) !== order.status

  const settleOrder = (order: Order): Promise<void> => settle(deps, order)

  return {
    reserve: createReserve(deps, { isOver, settle: settleOrder }),

    /** The order without its secrets (GET /orders/{orderId}). @throws DomainError 'not-found', also for another bank's order */
    read: key => readOrder(nameOf(key)),

    /**
     * Confirms a paid order and reveals its profile (POST /orders/{orderId}/confirm). A repeated confirm gets the same
     * answer.
     *
     * @throws DomainError 'invalid' for a wrong or missing e-mail address; 'not-found', also for another bank's order;
     *   'order-cancelled' or 'order-expired' for an order with this status
     */
    async confirm({ orderId, bankId, caller, customerEmail, paymentReference = null }) {
      const { deliveryMode } = catalogue.bank(bankId)
      await requireEmailAddress(deps, { orderId, bankId }, { deliveryMode, customerEmail })
      for (;;) {
        const result = await confirmOrder(bankId, deliveryMode, caller)({ orderId, paymentReference })
        if (!result) throw new DomainError('not-found', 'There is no such order')
        const { moved, order } = result
        if (!moved && isOver(order)) await settleOrder(order)
        // For an order that is confirmed already, `decide` returns 'repeat'. If it returns 'transition', another
        // process changed the order while the statement ran, and the loop tries again.
        else if (moved || decide(order, 'confirm', clock.now()).outcome === 'repeat') {
          if (!moved)
            deps.activationReads.note({ orderId: order.orderId, kind: 'confirm_repeated', caller, at: clock.now() })
          return await answerConfirmed(deps, bankId, order, customerEmail)
        }
      }
    },

    /**
     * Cancels an unpaid order and returns its profile to the stock (POST /orders/{orderId}/cancel). A repeated cancel
     * gets the same answer.
     *
     * @throws DomainError 'not-found', also for another bank's order; 'order-confirmed' or 'order-expired' for an order with
     *   this status
     */
    async cancel(key) {
      for (;;) {
        const cancelled = await store.cancel(database, key, clock.now())
        const [found] = await store.findOrders(database, [key])
        const order = existing(found)
        if (cancelled) return order
        if (isOver(order)) await settleOrder(order)
        else if (decide(order, 'cancel', clock.now()).outcome === 'repeat') return order
      }
    },

    /**
     * The activation code as a picture (GET /orders/{orderId}/qr).
     * @throws DomainError 'not-found', also for another bank's order; 'order-not-confirmed' before it is confirmed
     */
    async qr({ isShown, ...key }) {
      const order = existing(await store.findSealedOrder(database, key))
      requireConfirmed(order, clock.now())
      const { orderId } = order
      if (isShown) deps.activationReads.note({ orderId, kind: 'qr_read', caller: key.caller, at: clock.now() })
      return qrPng(deps.sealing.open(order.sealed, order).activationCode)
    },
  }
}

/** The maximum number of orders in memory. Each takes some 700 bytes. */
const maxKnown = 10_000
const nameOf = ({ bankId, orderId }: OrderKey): OrderName => ({ bankId, name: orderId })
const keyOf = ({ bankId, name }: OrderName): OrderKey => ({ bankId, orderId: name })

/** Returns the order if there is one. @throws DomainError 'not-found' */
function existing<T extends Order>(order: T | null | undefined): T {
  if (!order) throw new DomainError('not-found', 'There is no such order')
  return order
}

/** Checks a confirm's e-mail address. @throws DomainError 'invalid' if it is wrong, or missing where it is needed */
async function requireEmailAddress(
  { database }: EsimDeps,
  key: OrderKey,
  { deliveryMode, customerEmail }: { deliveryMode: DeliveryMode; customerEmail: string | undefined },
): Promise<void> {
  if (customerEmail !== undefined && !isEmailAddress(customerEmail))
    throw new DomainError('invalid', [broken('customerEmail', 'email')])
  if (deliveryMode !== 'qr_email' || customerEmail !== undefined) return
  // Only a repeated confirm may omit the address.
  const [found] = await store.findOrders(database, [key])
  if (found?.status !== 'confirmed') throw new DomainError('invalid', ['customerEmail must be given'])
}

async function answerConfirmed(
  deps: EsimDeps,
  bankId: string,
  order: SealedOrder,
  customerEmail: string | undefined,
): Promise<Confirmed> {
  const { confirmedAt, deliveryMode } = order
  if (confirmedAt === null || deliveryMode === null) throw new Error('A confirmed order lacks its confirmation')
  const secrets = deps.sealing.open(order.sealed, order)
  const confirmed = { order: { ...order, confirmedAt, deliveryMode }, secrets }
  if (deliveryMode === 'local') return { ...confirmed, emailDelivery: null }
  const emailDelivery = await deliver(deps, bankId, order, secrets.activationCode, customerEmail)
  deps.observe.mail(emailDelivery)
  return { ...confirmed, emailDelivery }
}

/** The outcome to report for an e-mail that an earlier confirm has sent or tried to send. */
function repeatedDelivery(mail: MailState): EmailDelivery {
  const shown = shownMail(mail)
  return shown === 'sent' ? 'already-sent' : shown
}

/**
 * Sends the e-mail at most once (contract/esim.md, "The e-mail"). The message is made first: if that fails, the order
 * is not marked. Then the order is marked, before the first byte is sent. The mark is removed only when it is certain
 * that nothing arrived. If the database is away at the end, the outcome is stored later. This function never throws:
 * the order is paid for and confirmed, so the confirm must succeed even without its e-mail.
 */
async function deliver(
  deps: EsimDeps,
  bankId: string,
  order: SealedOrder,
  activationCode: string,
  customerEmail: string | undefined,
): Promise<EmailDelivery> {
  const { orderId } = order
  const before = repeatedDelivery(order.mail ?? 'failed')
  if (before !== 'failed' || customerEmail === undefined) return before
  let message: EsimMail
  try {
    message = await makeMessage(deps, { bankId, order, activationCode, customerEmail })
  } catch (error) {
    deps.onError(error)
    return 'failed'
  }
  const attempt = { orderId, claim: randomUUID() }
  let isClaimed: boolean
  try {
    isClaimed = await claimMail(deps.database, attempt, deps.clock.now())
  } catch (error) {
    // Without the answer to its claim, this process sends nothing.
    deps.onError(error)
    persist(recordingMs, withdrawing(deps, attempt)).catch(deps.onError)
    return 'failed'
  }
  if (!isClaimed) return deliveryByOthers(deps, bankId, orderId)
  // If sending fails in an unexpected way, the e-mail may have arrived.
  const outcome = await deps.mailer.send(message).catch((error: unknown): MailOutcome => {
    deps.onError(error)
    return 'unknown'
  })
  const record = async () => void (await recordMail(deps.database, attempt, outcome, deps.clock.now()))
  await record().catch(error => {
    deps.onError(error)
    persist(recordingMs, record).catch(deps.onError)
  })
  return outcome
}

/** Withdraws the claim of an attempt. Fails as long as the claim is not found, but may still be carried out. */
function withdrawing(deps: EsimDeps, attempt: MailAttempt): () => Promise<void> {
  const settledAtMs = performance.now() + claimingMs
  return async () => {
    const begunAtMs = performance.now()
    if (await withdrawClaim(deps.database, attempt, deps.clock.now())) return
    if (begunAtMs < settledAtMs) throw new DomainError('unavailable', 'The claim of an e-mail is not settled yet')
  }
}

/** The outcome to report while, or after, another request sends the e-mail. */
async function deliveryByOthers(deps: EsimDeps, bankId: string, orderId: string): Promise<EmailDelivery> {
  try {
    const now = await store.findSealedOrder(deps.database, { orderId, bankId })
    return repeatedDelivery(now?.mail ?? 'sending')
  } catch (error) {
    deps.onError(error)
    return 'unknown'
  }
}

async function makeMessage(
  { catalogue }: EsimDeps,
  input: { bankId: string; order: SealedOrder; activationCode: string; customerEmail: string },
): Promise<EsimMail> {
  const { bankId, order, activationCode, customerEmail } = input
  const tariff = await catalogue.tariffOf(order.tariffId)
  const operator = catalogue.operatorByCode(tariff.operatorCode)
  return {
    to: customerEmail,
    activationCode,
    qrPng: qrPng(activationCode),
    operatorName: operator?.nameUk ?? tariff.operatorCode,
    operatorNameEn: operator?.nameEn ?? tariff.operatorCode,
    tariffName: tariff.name,
    bankName: catalogue.bank(bankId).name,
    orderId: order.orderId,
  }
}
