/** Of the items that failed, this many are named. */
const maxNames = 10

/**
 * Does the work for one item after the other. An error of one item does not stop the work for later items.
 *
 * @param nameOf the name of an item in the log, without personal data
 * @throws AggregateError at the end: its message names the first items that failed, and it has the errors of all in the same order
 */
export async function forEachItem<Item>(
  items: Iterable<Item>,
  nameOf: (item: Item) => string,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: { name: string; error: unknown }[] = []
  for (const item of items) await work(item).catch((error: unknown) => failures.push({ name: nameOf(item), error }))
  if (failures.length === 0) return
  const names = failures.slice(0, maxNames).map(({ name }) => name)
  const others = failures.length > maxNames ? `, and ${failures.length - maxNames} others` : ''
  throw new AggregateError(
    failures.map(({ error }) => error),
    `The work failed for ${names.join(', ')}${others}`,
  )
}
