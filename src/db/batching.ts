/**
 * Requests that arrive together share one statement: under load a statement of up to 64 rows costs little more than one of a
 * single row, and alone a request waits for nobody.
 */
import { DomainError } from '../errors.ts'

export type Batcher<Item, Result> = (item: Item) => Promise<Result>

/** A statement that takes longer waits for a lock, or for a slow disk: nobody else is to wait for it. */
const patienceMs = 25

/**
 * Who has waited for so long when a statement finds the database away is told the same at once: a try of his own may take as long as
 * that one took, and a connection that has fallen silent takes a statement's whole time limit.
 */
const longWaitMs = 2_000

/**
 * @param options.run gives the results of `items` in their order, an Error for an item that failed alone; or throws: then each of
 *   them gets that error
 * @param options.maxItems rows of one statement
 * @param options.inFlight statements at the same time; another one beside those that run begins when it is full, or when they take
 *   so long that something must be in their way
 * @param options.maxWaiting items that may queue; more are refused by `onFull`'s error, so that memory stays bounded
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
  let held = 0

  const start = () => {
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
        // Not at once: requests that have arrived meanwhile are read first, and go into the same statement.
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
      // What arrives in the same turn of the event loop goes into the same statement.
      if (waiting.length === 1) setImmediate(start)
      else if (waiting.length >= options.maxItems) start()
    })
}

/** The batcher of every statement that requests share: whom the platform has no time for gets 503 before memory runs out. */
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
 * A batcher for each bank (or bank and more): what waits for one bank's lock holds up no other.
 *
 * @param make a batcher for the given names
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

/** One bad row must not fail the requests that share its statement. */
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
      const alone = await run([item]).catch((fault: Error) => [fault])
      results.push(...alone)
    }
    return results
  }
}

/** So many reads of one kind at the same time: one is answered while the next is under way. */
const readsAtOnce = 2

/**
 * Shares a read among all who asked before it began: whoever asks later gets the next one, so an answer is never older than its
 * question.
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
