/** The rule of a sale's commission (contract/statements.md). Lines, totals and the audit all compute it here. */

/** SQL for the commission, rounded half away from zero like all decimals in PostgreSQL. */
export const commissionOf = (amount: string, percentage: string): string => `round(${amount} * ${percentage} / 100, 2)`
