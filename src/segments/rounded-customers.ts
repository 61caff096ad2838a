/**
 * How many customers of one bank a merchant is told: down to tens, and 0 below 20, so that nobody learns by uploads who is a bank's
 * customer (contract/campaigns.md, "Segments"). A total over banks is the sum of these. The bank itself has exact numbers.
 */
export const roundedCustomers = (count: number): number => (count < 20 ? 0 : count - (count % 10))
