/**
 * Does the work for one item after the other. An error of one item does not stop the work for later items.
 *
 * @throws the first error, at the end
 */
export async function forEachItem<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const errors: unknown[] = []
  for (const item of items) await work(item).catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}
