/** Builds the answers of the eSIM API: operators, tariffs and orders, with exactly the documented fields (contract/esim.md). */
import { instantText } from '../../text/instant-text.ts'
import type { MobileOperator, Tariff } from '../catalogue.ts'
import type { Offer } from './availability.ts'
import type { Confirmed } from './operations.ts'
import { shownEnd, shownMsisdn } from './shown-fields.ts'
import type { Order } from './store.ts'

export function operatorView({ code, nameUk, nameEn, logoUrl, country }: MobileOperator) {
  return { code, nameUk, nameEn: nameEn || nameUk, logoUrl, country }
}

export function offerView({ operator, free }: Offer) {
  return [...operator.tariffs.values()].map(tariff => tariffView(tariff, free.has(tariff.tariffId)))
}

/** @param free whether the tariff has a free profile */
function tariffView(tariff: Tariff, free: boolean) {
  const { tariffId, operatorCode, onSale, price, ...shown } = tariff
  // A price has at most 2 decimals and is below 10^10, so it keeps all its digits as a JavaScript number.
  return { ...shown, price: Number(price), available: onSale && free }
}

/**
 * The view of an order.
 *
 * @param order an order with its current status: a reservation that is over must be marked as expired before
 */
export function orderView(order: Order, tariff: Tariff) {
  const { status } = order
  return {
    orderId: order.orderId,
    externalId: order.externalId,
    operatorCode: tariff.operatorCode,
    tariffCode: tariff.code,
    status,
    msisdn: shownMsisdn(order),
    reservedUntil: shownEnd(order),
    createdAt: instantText(order.createdAt),
    confirmedAt: order.confirmedAt && instantText(order.confirmedAt),
  }
}

/** @param publicUrl address of this installation */
export function confirmedView({ order, secrets }: Confirmed, tariff: Tariff, publicUrl: string) {
  const { orderId, externalId, msisdn, deliveryMode } = order
  return {
    orderId,
    externalId,
    status: 'confirmed' as const,
    operatorCode: tariff.operatorCode,
    tariffCode: tariff.code,
    msisdn,
    confirmedAt: instantText(order.confirmedAt),
    deliveryMode,
    esim: {
      iccid: secrets.iccid,
      msisdn,
      pin1: secrets.pin1,
      activationCode: secrets.activationCode,
      qrCodeUrl: `${publicUrl}/esim/v1/orders/${orderId}/qr`,
    },
  }
}
