/** Builds the answers about segments for merchants. */

import { roundedCustomers } from '../campaigns/rounded-customers.ts'
import type { FormedSegment } from './operations.ts'

/** A segment as its merchant sees it. Numbers are rounded for each bank, and totals are sums of rounded numbers. */
export function segmentView({ parts, malformed }: FormedSegment) {
  const banks = parts.map(({ bankId, customersCount }) => ({
    id: bankId,
    customersCount: roundedCustomers(customersCount),
  }))
  return {
    customersCount: banks.reduce((sum, { customersCount }) => sum + customersCount, 0),
    banks,
    notTaken: { malformed },
  }
}
