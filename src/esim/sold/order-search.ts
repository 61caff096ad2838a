/** Reads the query of an order search. */
import { broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { readSpan } from '../../text/span.ts'
import type { Sealing } from '../stock/sealing.ts'
import type { OrderSearch } from './order-store.ts'

/** The maximum number of orders shown for one phone number. */
export const maxFound = 100

type Query = { dateFrom?: string; dateTo?: string; bank?: string; exact?: boolean } & Partial<
  Pick<OrderSearch, 'orderId' | 'externalId' | 'status' | 'operatorCode' | 'tariffCode'>
>

/**
 * Converts the query to a search.
 *
 * @param bank only this bank's orders are found; undefined: the orders of the bank in the query, or of all banks
 * @throws DomainError 'invalid' for invalid dates
 */
export function searchOf(query: Query, bank?: { bankId: string }): OrderSearch {
  const { orderId, externalId, status, operatorCode, tariffCode } = query
  return {
    ...(bank && { bankId: bank.bankId }),
    bankCode: query.bank,
    orderId,
    externalId,
    isExact: query.exact ?? false,
    status,
    operatorCode,
    tariffCode,
    ...readSpan(query),
  }
}

/**
 * A search for the order that holds a profile now.
 *
 * @param input.msisdn with or without a leading `+`
 * @param bank only this bank's orders are found; undefined: the orders of all banks
 * @throws DomainError 'invalid' unless exactly one of the two is given: the ICCID or the phone number
 */
export function profileSearchOf(
  sealing: Sealing,
  input: { msisdn?: string; iccid?: string },
  bank?: { bankId: string },
): OrderSearch {
  const { msisdn, iccid } = input
  if ((msisdn === undefined) === (iccid === undefined))
    throw new DomainError('invalid', [broken('msisdn', 'one-of-two', { field: 'iccid' })])
  const profile =
    iccid === undefined ? { msisdn: `+${msisdn?.replace('+', '')}` } : { iccidHash: sealing.hashIccid(iccid) }
  return { ...searchOf({}, bank), profile }
}
