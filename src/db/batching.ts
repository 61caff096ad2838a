/**
 * Lets requests that arrive at the same time share one statement. Under load a statement of up to 64 rows costs little more than
 * one with a single row. A request that arrives alone does not wait for others.
 */
import { DomainError } from '../errors.ts'

export type Batcher<Item, Result> = (item: Item) => Promise<Result>

/**
 * A statement that runs longer than this probably waits for a lock or a slow disk. Other requests then start another statement.
 */
const patienceMs = 25

/**
 * When a statement fails because the database is away, requests that have queued for this long get the same error at
 * once. Otherwise they might have to wait for the time limit of one more statement.
 */
const longWaitMs = 2_000

/**
 * @param options.run returns one result for each item, in the same order; an Error as a result fails only that item,
 *   and a thrown error fails all items
 * @param options.maxItems rows in one statement
 * @param options.inFlight the maximum number of statements that run at the same time. While one runs, another one
 *   starts only when `maxItems` rows wait, or when all running ones have exceeded `patienceMs`
 * @param options.maxWaiting the maximum length of the queue, so that memory stays bounded; further items get the error
 *   of `onFull`
 */
export function createBatcher<Item, Result>(options: {
  run(items: Item[]): Promise<(Result | Error)[]>
  maxItems: number
  inFlight: number
  maxWaiting: number
  onFull(): Error
}): Batcher<Item, Result> {
  type Waiting = { item: Item; sinceMs: number; resolve(result: Result): void; reject(error: unknown): void }
  let waiting: Waiting[] = []
  let running = 0
  /** How many of the running statements have run for longer than `patienceMs`. */
  let held = 0

  const start = () => {
    // Start a statement with fewer than `maxItems` rows only if no statement runs, or all running ones have exceeded
    // `patienceMs`.
    while (running < options.inFlight && waiting.length >= (running > held ? options.maxItems : 1)) {
      const batch = waiting.slice(0, options.maxItems)
      waiting = waiting.slice(options.maxItems)
      running++
      let isHeld = false
      const patience = setTimeout(() => {
        isHeld = true
        held++
        start()
      }, patienceMs)
      void runBatch(batch).finally(() => {
        clearTimeout(patience)
        running--
        if (isHeld) held--
        // Start later, so that requests that have already arrived are read first and join the same statement.
        setImmediate(start)
      })
    }
  }

  const runBatch = async (batch: Waiting[]) => {
    try {
      const results = await options.run(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index]
        if (result instanceof Error) reject(result)
        else if (index < results.length) resolve(result as Result)
        else reject(new Error('A batch gave fewer results than it had items'))
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
      if (error instanceof DomainError && error.code === 'unavailable') turnAway(error)
    }
  }

  const turnAway = (error: DomainError) => {
    const longAgoMs = performance.now() - longWaitMs
    const firstToStay = waiting.findIndex(({ sinceMs }) => sinceMs > longAgoMs)
    for (const { reject } of waiting.splice(0, firstToStay === -1 ? waiting.length : firstToStay)) reject(error)
  }

  return item =>
    new Promise((resolve, reject) => {
      if (waiting.length >= options.maxWaiting) return reject(options.onFull())
      waiting.push({ item, sinceMs: performance.now(), resolve, reject })
      // Items that arrive in the same turn of the event loop join the same statement.
      if (waiting.length === 1) setImmediate(start)
      else if (waiting.length >= options.maxItems) start()
    })
}

/** The batcher for statements that requests share. When its queue is full, requests get 503, so that memory stays bounded. */
export const createStatementBatcher = <Item, Result>(
  run: (items: Item[]) => Promise<(Result | Error)[]>,
): Batcher<Item, Result> =>
  createBatcher({
    run,
    maxItems: 64,
    inFlight: 2,
    maxWaiting: 10_000,
    onFull: () => new DomainError('unavailable', 'Too many requests at once; try again', { retryAfterSeconds: 1 }),
  })

/**
 * Returns a batcher for each bank (or each bank and further names), so that a lock held for one bank does not delay
 * other banks.
 *
 * @param make makes a batcher for the given names
 */
export function createBatcherOfEach<Names extends string[], Item, Result>(
  make: (...names: Names) => Batcher<Item, Result>,
): (...names: Names) => Batcher<Item, Result> {
  const batchers = new Map<string, Batcher<Item, Result>>()
  return (...names) => {
    const key = names.join(' ')
    const batcher = batchers.get(key) ?? make(...names)
    batchers.set(key, batcher)
    return batcher
  }
}

/** Runs the items one by one when their shared statement fails, so that one bad row does not fail the others. */
export async function rowByRowOnError<Item, Result>(
  items: Item[],
  run: (items: Item[]) => Promise<Result[]>,
): Promise<(Result | Error)[]> {
  try {
    return await run(items)
  } catch (error) {
    if (items.length === 1 || error instanceof DomainError) throw error
    const results: (Result | Error)[] = []
    for (const item of items) {
      const alone = await run([item]).catch((itemError: Error) => [itemError])
      results.push(...alone)
    }
    return results
  }
}

/** How many reads of one kind run at the same time. */
const readsAtOnce = 2

/**
 * Shares one read among all callers that called before it began. A later caller gets the next read, so no caller gets
 * data that was read before its call.
 */
export function createSharedRead<Result>(read: () => Promise<Result>): () => Promise<Result> {
  const running = new Set<Promise<unknown>>()
  let next: Promise<Result> | null = null
  return () => {
    next ??= (async () => {
      await new Promise(resolve => setImmediate(resolve))
      while (running.size >= readsAtOnce) await Promise.race(running)
      next = null
      const mine = read()
      const ended = mine.then(
        () => {},
        () => {},
      )
      running.add(ended)
      void ended.then(() => running.delete(ended))
      return mine
    })()
    return next
  }
}
