import { Order, OrderStatus } from '../order.entity.js'

export function toOrderResponse(order: Order) {
  return {
    orderId: order.id,
    externalId: order.externalId,
    operatorCode: order.tariff.operator.code,
    tariffCode: order.tariff.code,
    status: order.status,
    msisdn: order.profile.msisdn,
    reservedUntil: order.status === OrderStatus.Confirmed ? null : order.reservedUntil.toISOString(),
    createdAt: order.createdAt.toISOString(),
    confirmedAt: order.confirmedAt?.toISOString() ?? null,
  }
}

export function toConfirmationResponse(order: Order) {
  const { iccid, msisdn, pin1, activationCode } = order.profile
  return {
    orderId: order.id,
    externalId: order.externalId,
    status: order.status,
    operatorCode: order.tariff.operator.code,
    tariffCode: order.tariff.code,
    msisdn,
    confirmedAt: order.confirmedAt?.toISOString() ?? null,
    deliveryMode: 'local',
    esim: { iccid, msisdn, pin1, activationCode, qrCodeUrl: `http://127.0.0.1/esim/v1/orders/${order.id}/qr` },
  }
}
