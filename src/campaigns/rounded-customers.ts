/**
 * The number of a bank's customers as merchants see it: rounded down to tens, and 0 below 20, so that uploads do not reveal who
 * is a bank's customer (contract/campaigns.md, "Segments"). A total is the sum of rounded numbers. The bank itself sees exact
 * numbers.
 */
export const roundedCustomers = (count: number): number => (count < 20 ? 0 : count - (count % 10))
