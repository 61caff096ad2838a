import type { FormedSegment } from './operations.ts'

/** A segment as its merchant sees it. */
export function segmentView({ parts, notTaken }: FormedSegment) {
  return {
    customersCount: parts.reduce((sum, { customersCount }) => sum + customersCount, 0),
    banks: parts.map(({ bankId, customersCount }) => ({ id: bankId, customersCount })),
    notTaken,
  }
}
