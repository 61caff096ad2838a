/** What an order is looked for by, as the query says it. */
import type { OrderSearch } from './order-store.ts'
import { readSpan } from './span.ts'

type Asked = { dateFrom?: string; dateTo?: string; bank?: string } & Partial<
  Pick<OrderSearch, 'orderId' | 'externalId' | 'status' | 'operatorCode' | 'tariffCode'>
>

/**
 * @param bank whose orders alone are found; undefined: those of the bank that the query names, or of all
 * @throws DomainError 'invalid' for what is no date
 */
export function searchOf(asked: Asked, bank?: { bankId: string }): OrderSearch {
  const { orderId, externalId, status, operatorCode, tariffCode } = asked
  return {
    ...(bank && { bankId: bank.bankId }),
    bankCode: asked.bank,
    orderId,
    externalId,
    status,
    operatorCode,
    tariffCode,
    ...readSpan(asked),
  }
}
